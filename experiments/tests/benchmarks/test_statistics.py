"""Statistics by hand and by plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from estime_metric import EstimeScorer
from experiments.benchmarks import ragtruth
from experiments.benchmarks.common import Run
from experiments.benchmarks.detection import cross_validated, detect
from experiments.benchmarks.statistics import (
    areas,
    areas_within,
    balanced_accuracies,
    choose_threshold,
    f1_scores,
    partial_correlations,
)

LABELS = np.array([1, 1, 1, 0, 0])
ONCE = np.ones((1, 5))


def test_accuracy_f1_and_area_by_hand() -> None:
    predicted = np.array([True, True, False, False, True])
    assert balanced_accuracies(LABELS, predicted) == pytest.approx((2 / 3 + 1 / 2) / 2)
    # Two are flagged, one of them rightly, and there are two.
    assert f1_scores(LABELS, predicted, ONCE) == pytest.approx(2 * 1 / (2 * 1 + 1 + 1))
    # Of six pairs, the first two summaries win 2 each, the third ties once and loses once.
    scores = np.array([5.0, 4, 2, 3, 2])
    assert areas(LABELS, scores, ONCE) == pytest.approx(4.5 / 6)
    # Within the groups 0, 1, 0, 1, 0: 4 against 3 wins; 5 against 2 wins, 2 against 2 ties.
    groups = np.array([0, 1, 0, 1, 0])
    assert areas_within(LABELS, scores, ONCE, groups) == pytest.approx(2.5 / 3)


def test_the_threshold_is_the_highest_of_the_best() -> None:
    threshold = choose_threshold(np.array([0, 0, 1, 1]), np.array([0.0, 1, 2, 3]))
    assert 1.99 < threshold < 2  # the last percentile below the first consistent summary


@pytest.mark.parametrize("method", ["pearson", "spearman", "authors"])
def test_partial_correlations_are_those_of_regressions(method: str) -> None:
    rng = np.random.default_rng(1)
    category = np.repeat([0, 1, 2], 8)
    x, y = rng.integers(0, 9, (2, 24)).astype(float) + category

    def residuals(values: np.ndarray) -> np.ndarray:
        dummies = np.eye(3)[category]
        return values - dummies @ np.linalg.lstsq(dummies, values, rcond=None)[0]

    if method == "spearman":
        expected = stats.pearsonr(residuals(stats.rankdata(x)), residuals(stats.rankdata(y)))[0]
    elif method == "pearson":
        expected = stats.pearsonr(residuals(x), residuals(y))[0]
    else:
        rounded = residuals(x).round(9), residuals(y).round(9)
        expected = stats.spearmanr(*rounded)[0]
    computed = partial_correlations(np.ones((1, 24)), x, y, category, method)
    assert computed == pytest.approx(expected)
    assert np.isnan(partial_correlations(np.ones((1, 24)), category * 1.0, y, category, method))


def test_each_fold_is_classified_by_the_threshold_of_the_others() -> None:
    table = pd.DataFrame({"label": [1, 0, 1, 0], "document": ["a", "a", "b", "b"]})
    scores = pd.DataFrame({"good": [9.0, 8, 2, 1], "none": np.nan})
    parts = {"first": table.index[:2], "all": table.index}
    frame = detect(
        table,
        scores,
        parts,
        lambda rows: cross_validated(rows, table["document"]),
        "document",
        Run(resamples=20),
    ).set_index(["measure", "part"])
    assert list(frame.index) == [("good", "first"), ("good", "all"), ("good", "mean")]
    # Thresholds of b are between 1 and 2, and both of a are above; those of a are above all of b.
    assert frame.loc[("good", "all"), "accuracy"] == 0.5
    assert frame.loc[("good", "all"), "area"] == 0.75
    assert frame.loc[("good", "mean"), "area"] == (1 + 0.75) / 2
    assert np.isnan(frame.loc[("good", "first"), "accuracy"])  # one document


def test_intervals_draw_whole_groups() -> None:
    weights = Run(resamples=50).weights(pd.Series(["a", "a", "b", "c", "c"]))
    assert weights.shape == (51, 5)
    assert (weights[0] == 1).all()
    assert (weights[:, 0] == weights[:, 1]).all()
    assert (weights[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_words_that_share_a_character_with_a_marked_place_are_marked() -> None:
    source = "Anna bought the red boat. Peter sold the old house."
    shown = EstimeScorer().explain("Peter bought the red yacht.", source)
    judged = ragtruth.judged_words([shown], [[(0, 3), (21, 26)]])
    assert judged["marked"].tolist() == [True, False, False, False, True, False]
    assert judged["kind"].tolist()[0] == "alarm"
    assert ragtruth.signals(judged).loc["new word"].tolist() == [1, 1.0, 0.5, 3.0]
