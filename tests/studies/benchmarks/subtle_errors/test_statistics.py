"""Table 3's statistics against scipy and resampled rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from estime_metric.studies.benchmarks.subtle_errors.experiment import agree


def test_each_statistic_is_scipys_and_differences_are_those_of_resampled_rows() -> None:
    rng = np.random.default_rng(5)
    clean, corrupted = np.round(rng.normal(1, 1, 30)), np.round(rng.normal(0, 1, 30))
    noise = rng.normal(0, 1, 30), rng.normal(0, 1, 30)
    good = np.column_stack([clean, corrupted])
    first, second = (agree(pairs, good, 300, seed=7) for pairs in (good, np.column_stack(noise)))
    pooled, labels = [*clean, *corrupted], [1] * 30 + [0] * 30
    expected = stats.spearmanr(pooled, labels)
    assert (first["spearman"], first["spearman_p_value"]) == pytest.approx(tuple(expected))
    assert first["kendall_c"] == pytest.approx(
        stats.kendalltau(pooled, labels, variant="c").statistic
    )
    assert first["preferred"] == np.mean((np.sign(clean - corrupted) + 1) / 2)
    drawn = np.random.default_rng(7).integers(30, size=(300, 30))

    def resampled(good: np.ndarray, bad: np.ndarray) -> np.ndarray:
        return np.array(
            [stats.spearmanr([*good[rows], *bad[rows]], labels).statistic for rows in drawn]
        )

    one, other = resampled(clean, corrupted), resampled(*noise)
    for row, name, values in ((first, "spearman", one), (second, "behind", one - other)):
        ends = row[f"{name}_low"], row[f"{name}_high"]
        assert ends == pytest.approx(np.quantile(values, [0.025, 0.975]))
    assert second["behind"] == pytest.approx(first["spearman"] - second["spearman"])


def test_equal_scores_prefer_nothing() -> None:
    row = agree(np.ones((3, 2)), np.eye(3, 2), 5)
    assert row["preferred"] == 0.5
    assert np.isnan(row["spearman"])
    assert "behind" not in row
