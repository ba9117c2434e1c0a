"""Table 3's statistics against scipy and resampled rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from estime_metric.studies.benchmarks.subtle_errors.experiment import agree
from tests.studies.meta import oracle

LABELS = np.tile([1.0, 0.0], (30, 1))


def drawn(pairs: np.ndarray) -> np.ndarray:
    """Spearman's correlation with the labels in each resample of the pairs."""
    samples = oracle.resample(pairs, LABELS, "documents", 100, seed=7)
    return np.array([oracle.value(*sample, "summary", "spearman") for sample in samples])


def test_each_statistic_is_scipys_and_differences_are_those_of_resampled_rows() -> None:
    rng = np.random.default_rng(5)
    good, noise = np.round(rng.normal([1, 0], 1, (30, 2))), rng.normal(size=(30, 2))
    first, second = (agree(pairs, good, 100, seed=7) for pairs in (good, noise))
    expected = stats.spearmanr(good.ravel(), LABELS.ravel())
    assert (first["spearman"], first["spearman_p_value"]) == pytest.approx(tuple(expected))
    tau = oracle.value(good, LABELS, "summary", "kendall_c")
    assert first["kendall_c"] == pytest.approx(tau)
    assert first["preferred"] == np.mean((np.sign(good[:, 0] - good[:, 1]) + 1) / 2)
    for row, name, values in (
        (first, "spearman", drawn(good)),
        (second, "behind", drawn(good) - drawn(noise)),
    ):
        ends = row[f"{name}_low"], row[f"{name}_high"]
        assert ends == pytest.approx(np.quantile(values, [0.025, 0.975]))
    assert second["behind"] == pytest.approx(first["spearman"] - second["spearman"])


def test_equal_scores_prefer_nothing() -> None:
    row = agree(np.ones((3, 2)), np.eye(3, 2), 5)
    assert row["preferred"] == 0.5
    assert np.isnan(row["spearman"])
    assert "behind" not in row
