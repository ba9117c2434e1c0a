"""Partial correlations against a regression on dummies, resamples against repeated rows, FRANK against its authors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from estime_metric.studies.frank.data import Frank
from estime_metric.studies.frank.partial import METHODS, codes_of, partial_correlation, weighted_partial

#: Partial correlation (Pearson, Spearman) of published metrics with factuality, split ``test``: all, CNN/DailyMail,
#: XSum; computed from the authors' files by residuals on system dummies, independently of this package.
PUBLISHED = {
    "BertScore P Art": (0.295, 0.292, 0.378, 0.332, 0.198, 0.176),
    "FactCC": (0.201, 0.195, 0.363, 0.322, 0.068, 0.066),
    "Dep Entail": (0.179, 0.191, 0.273, 0.280, 0.033, 0.111),
    "QAGS": (0.093, 0.083, 0.170, 0.122, -0.004, 0.006),
    "FEQA": (-0.001, -0.008),
}


def by_regression(x: np.ndarray, y: np.ndarray, categories: list[str], method: str) -> float:
    """Residuals of a least-squares fit on one dummy for each category."""
    if method == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    names = sorted(set(categories))
    dummies = np.array([[float(category == name) for name in names] for category in categories])
    first, second = (values - dummies @ np.linalg.lstsq(dummies, values, rcond=None)[0] for values in (x, y))
    return float(np.corrcoef(first, second)[0, 1])


def columns(seed: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Tied numbers of three categories that differ in level and size."""
    rng = np.random.default_rng(seed)
    categories = [str(name) for name in rng.choice(["A", "B", "C"], 60, p=[0.6, 0.3, 0.1])]
    level = np.array([{"A": 0, "B": 5, "C": -7}[name] for name in categories])
    x = rng.integers(0, 6, 60) + level
    return x.astype(float), x + rng.integers(0, 8, 60) - 2.0 * level, categories


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_is_the_correlation_of_the_residuals_on_dummies(method: str, seed: int) -> None:
    x, y, categories = columns(seed)
    found = partial_correlation(x, y, categories, method=method)
    assert found == pytest.approx(by_regression(x, y, categories, method), abs=1e-12)
    plain = stats.pearsonr(x, y) if method == "pearson" else stats.spearmanr(x, y)
    assert partial_correlation(x, y, method=method) == pytest.approx(plain.statistic, abs=1e-12)
    assert abs(found - plain.statistic) > 0.05  # the categories matter here


@pytest.mark.parametrize("method", METHODS)
def test_a_resample_is_the_table_with_its_rows_repeated(method: str) -> None:
    x, y, categories = columns(3)
    rng = np.random.default_rng(4)
    weights = rng.multinomial(60, [1 / 60] * 60, size=5).astype(float)
    found = weighted_partial(weights, x, y, codes_of(categories), method)
    for row, value in zip(weights.astype(int), found, strict=True):
        taken = np.repeat(np.arange(60), row)
        repeated = by_regression(x[taken], y[taken], [categories[index] for index in taken], method)
        assert value == pytest.approx(repeated, abs=1e-12)


def test_nothing_that_varies_within_a_category_has_no_value() -> None:
    categories = ["A", "A", "B", "B"]
    for method in METHODS:
        assert np.isnan(partial_correlation([0.1, 0.1, 0.3, 0.3], [1, 2, 3, 4], categories, method=method))
        assert np.isnan(partial_correlation([1, 1, 1, 1], [1, 2, 3, 4], method=method))
    with pytest.raises(ValueError, match="columns of one length, but got 2, 3 and 2"):
        partial_correlation([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="`method` to be one of pearson, spearman"):
        partial_correlation([1, 2], [1, 2], method="kendall")


@pytest.mark.parametrize("metric", PUBLISHED)
def test_published_metrics_correlate_as_published(frank: Frank, metric: str) -> None:
    found = []
    for dataset in (None, "cnndm", "bbc"):
        inside = np.array(frank.datasets) == dataset if dataset else True
        rows = np.flatnonzero(np.isfinite(frank.metrics[metric]) & inside)
        systems = [frank.keys[row][1] for row in rows]
        found += [
            partial_correlation(frank.metrics[metric][rows], frank.factuality[rows], systems, method=method)
            for method in METHODS
        ]
    expected = PUBLISHED[metric]
    assert found[: len(expected)] == pytest.approx(expected, abs=5.01e-4)
