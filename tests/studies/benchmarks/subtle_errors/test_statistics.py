"""Table 3's statistics against scipy and resampled rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from estime_metric.studies.benchmarks.shared.scored import drawn_weights
from estime_metric.studies.benchmarks.subtle_errors.experiment import agree

SCORES = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=12)


@settings(max_examples=80, deadline=None)
@given(scores=SCORES)
def test_each_statistic_is_scipys(scores: list[tuple[int, int]]) -> None:
    pairs = np.array(scores, dtype=float)
    clean, corrupted = pairs.T
    row = agree(pairs, pairs, drawn_weights(len(pairs), 5, 0))
    pooled, labels = np.concatenate([clean, corrupted]), [1] * len(clean) + [0] * len(corrupted)
    if len(set(pooled.tolist())) > 1:
        assert row["spearman"] == pytest.approx(stats.spearmanr(pooled, labels).statistic)
        assert row["kendall_c"] == pytest.approx(
            stats.kendalltau(pooled, labels, variant="c").statistic
        )
    else:
        assert np.isnan(row["spearman"])
    assert row["preferred"] == pytest.approx(
        np.mean([0.5 * (1 + np.sign(a - b)) for a, b in scores])
    )


def test_intervals_and_differences_are_those_of_resampled_rows() -> None:
    rng = np.random.default_rng(5)
    clean, corrupted = rng.normal(1, 1, 30), rng.normal(0, 1, 30)
    noise = rng.normal(0, 1, 30), rng.normal(0, 1, 30)
    good, weights = np.column_stack([clean, corrupted]), drawn_weights(30, 300, seed=7)
    first, second = (agree(pairs, good, weights) for pairs in (good, np.column_stack(noise)))
    labels = [1] * 30 + [0] * 30
    drawn = np.random.default_rng(7).integers(30, size=(300, 30))

    def resampled(good: np.ndarray, bad: np.ndarray) -> np.ndarray:
        return np.array(
            [stats.spearmanr([*good[rows], *bad[rows]], labels).statistic for rows in drawn]
        )

    one, other = resampled(clean, corrupted), resampled(*noise)
    assert (first["spearman_low"], first["spearman_high"]) == pytest.approx(
        np.quantile(one, [0.025, 0.975])
    )
    assert (second["behind_low"], second["behind_high"]) == pytest.approx(
        np.quantile(one - other, [0.025, 0.975])
    )
    assert second["behind"] == pytest.approx(first["spearman"] - second["spearman"])
    assert (first["behind_low"], first["behind"], first["behind_high"]) == (0, 0, 0)


def test_pairs_are_seen_that_the_correlation_does_not_see_and_no_pairs_give_nan() -> None:
    clean, weights = np.arange(40.0) * 10, drawn_weights(40, 10, 0)
    lower, equal = np.column_stack([clean, clean - 1]), np.column_stack([clean, clean])
    row = agree(lower, lower, weights)
    assert row["spearman"] < 0.05
    assert row["preferred"] == 1
    assert agree(equal, equal, weights)["preferred"] == 0.5
    row = agree(np.zeros((0, 2)), np.zeros((0, 2)), drawn_weights(0, 10, 0))
    assert np.isnan([row["spearman"], row["kendall_c_low"], row["preferred"]]).all()
