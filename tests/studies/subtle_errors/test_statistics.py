"""Table 3's statistics and the rise of alarms: against scipy and naive resampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from estime_metric.studies.subtle_errors.statistics import Sampler, agree, rise

SCORES = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=12)


@settings(max_examples=80, deadline=None)
@given(scores=SCORES)
def test_each_statistic_is_scipys(scores: list[tuple[int, int]]) -> None:
    clean, corrupted = np.array(scores, dtype=float).T
    row = agree({"m": (clean, corrupted)}, Sampler(len(scores), 5))["m"]
    pooled, labels = np.concatenate([clean, corrupted]), [1] * len(clean) + [0] * len(corrupted)
    if len(set(pooled.tolist())) > 1:
        assert row["spearman"] == pytest.approx(stats.spearmanr(pooled, labels).statistic)
        assert row["kendall_c"] == pytest.approx(stats.kendalltau(pooled, labels, variant="c").statistic)
    else:
        assert np.isnan(row["spearman"])
    wins = stats.mannwhitneyu(clean, corrupted).statistic
    assert row["auc"] == pytest.approx(wins / len(clean) ** 2)
    assert row["preferred"] == pytest.approx(np.mean([0.5 * (1 + np.sign(a - b)) for a, b in scores]))
    assert 0 < row["p_value"] <= 1


def test_intervals_and_differences_are_those_of_resampled_rows() -> None:
    rng = np.random.default_rng(5)
    clean, corrupted = rng.normal(1, 1, 30), rng.normal(0, 1, 30)
    noise = rng.normal(0, 1, 30), rng.normal(0, 1, 30)
    first, second = agree({"good": (clean, corrupted), "noise": noise}, Sampler(30, 300, seed=7)).values()
    labels = [1] * 30 + [0] * 30
    drawn = np.random.default_rng(7).integers(30, size=(300, 30))

    def resampled(good: np.ndarray, bad: np.ndarray) -> np.ndarray:
        return np.array([stats.spearmanr([*good[rows], *bad[rows]], labels).statistic for rows in drawn])

    one, other = resampled(clean, corrupted), resampled(*noise)
    assert (first["spearman_low"], first["spearman_high"]) == pytest.approx(np.quantile(one, [0.025, 0.975]))
    assert (second["behind_low"], second["behind_high"]) == pytest.approx(np.quantile(one - other, [0.025, 0.975]))
    assert second["behind"] == pytest.approx(first["spearman"] - second["spearman"])
    assert (first["behind_low"], first["behind"], first["behind_high"]) == (0, 0, 0)
    areas = [stats.mannwhitneyu(clean[rows], corrupted[rows]).statistic / 900 for rows in drawn]
    assert (first["auc_low"], first["auc_high"]) == pytest.approx(np.quantile(areas, [0.025, 0.975]))


def test_the_paired_test_sees_what_the_correlation_does_not_and_no_pairs_give_nan() -> None:
    clean = np.arange(40.0) * 10
    row = agree({"m": (clean, clean - 1)}, Sampler(40, 10))["m"]
    assert row["spearman"] < 0.05
    assert row["preferred"] == 1
    assert row["p_value"] < 0.001
    none = agree({"m": (clean, clean)}, Sampler(40, 10))["m"]
    assert (none["p_value"], none["preferred"], none["auc"]) == (1, 0.5, 0.5)
    row = agree({"m": ([], [])}, Sampler(0, 10))["m"]
    assert (row["pairs"], row["p_value"]) == (0, 1)
    assert np.isnan([row["spearman"], row["kendall_c_low"], row["auc_high"], row["preferred"]]).all()


def test_bad_scores_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"`scores of m` to be finite, but got nan at index \(1,\)"):
        agree({"m": ([1, float("nan")], [0, 0])}, Sampler(2, 1))
    with pytest.raises(ValueError, match="`scores` to hold 2 scores of each kind, but 'm' has 2 and 3"):
        agree({"m": ([1, 2], [0, 0, 0])}, Sampler(2, 1))
    with pytest.raises(ValueError, match=r"`values` to have 2 columns, but got shape \(1, 3\)"):
        rise([[1, 2, 3]], (0, 1), Sampler(1, 1))


def test_levels_are_means_and_paired_differences() -> None:
    values = np.array([[1, 2, 2], [3, 3, 6], [0, 1, 4], [2, 1, 3]], dtype=float)
    levels = rise(values, (0, 1, 3), Sampler(4, 500, seed=2))
    assert [level["n_errors"] for level in levels] == [0, 1, 3]
    assert [level["mean"] for level in levels] == [1.5, 1.75, 3.75]
    assert [level["rise"] for level in levels] == [0, 0.25, 2.25]
    assert [level["step"] for level in levels] == [0, 0.25, 2]
    assert [level["more_less_fewer"] for level in levels] == [0, 0.25, 1]
    drawn = values[np.random.default_rng(2).integers(4, size=(500, 4))]
    steps = (drawn[:, :, 2] - drawn[:, :, 1]).mean(1)
    assert (levels[2]["step_low"], levels[2]["step_high"]) == pytest.approx(np.quantile(steps, [0.025, 0.975]))
