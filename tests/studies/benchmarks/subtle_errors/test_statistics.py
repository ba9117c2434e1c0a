"""Table 3's statistics and the rise of alarms against scipy and resampled rows; where alarms fall
against every way.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from estime_metric.explanation import Explanation, UnitVerdict
from estime_metric.studies.benchmarks.shared.frames import drawn_weights
from estime_metric.studies.benchmarks.subtle_errors import Corrupted, SubtleError
from estime_metric.studies.benchmarks.subtle_errors.generator import substitute
from estime_metric.studies.benchmarks.subtle_errors.statistics import (
    agree,
    detect,
    rise,
)

VERDICTS = st.sampled_from(["match", "alarm", "absent"])
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
    wins = stats.mannwhitneyu(clean, corrupted).statistic
    assert row["auc"] == pytest.approx(wins / len(clean) ** 2)
    assert row["preferred"] == pytest.approx(
        np.mean([0.5 * (1 + np.sign(a - b)) for a, b in scores])
    )
    assert 0 < row["p_value"] <= 1


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
    areas = [stats.mannwhitneyu(clean[rows], corrupted[rows]).statistic / 900 for rows in drawn]
    assert (first["auc_low"], first["auc_high"]) == pytest.approx(
        np.quantile(areas, [0.025, 0.975])
    )


def test_the_paired_test_sees_what_the_correlation_does_not_and_no_pairs_give_nan() -> None:
    clean, weights = np.arange(40.0) * 10, drawn_weights(40, 10, 0)
    lower, equal = np.column_stack([clean, clean - 1]), np.column_stack([clean, clean])
    row = agree(lower, lower, weights)
    assert row["spearman"] < 0.05
    assert row["preferred"] == 1
    assert row["p_value"] < 0.001
    none = agree(equal, equal, weights)
    assert (none["p_value"], none["preferred"], none["auc"]) == (1, 0.5, 0.5)
    row = agree(np.zeros((0, 2)), np.zeros((0, 2)), drawn_weights(0, 10, 0))
    assert row["p_value"] == 1
    assert np.isnan(
        [row["spearman"], row["kendall_c_low"], row["auc_high"], row["preferred"]]
    ).all()


def test_levels_are_means_and_paired_differences() -> None:
    values = np.array([[1, 2, 2], [3, 3, 6], [0, 1, 4], [2, 1, 3]], dtype=float)
    levels = list(rise(values, (0, 1, 3), drawn_weights(4, 500, seed=2)))
    assert [level["n_errors"] for level in levels] == [0, 1, 3]
    assert [level["mean"] for level in levels] == [1.5, 1.75, 3.75]
    assert [level["rise"] for level in levels] == [0, 0.25, 2.25]
    assert [level["step"] for level in levels] == [0, 0.25, 2]
    drawn = values[np.random.default_rng(2).integers(4, size=(500, 4))]
    steps = (drawn[:, :, 2] - drawn[:, :, 1]).mean(1)
    assert (levels[2]["step_low"], levels[2]["step_high"]) == pytest.approx(
        np.quantile(steps, [0.025, 0.975])
    )


def explained(text: str, verdicts: Sequence[str]) -> Explanation:
    """An explanation of a text of words with blanks between, one unit a word."""
    units, start = [], 0
    for word, verdict in zip(text.split(), verdicts, strict=True):
        units.append(UnitVerdict(start, start + len(word), verdict, None, None, None))
        start += len(word) + 1
    return Explanation(text, "source", tuple(units), "token", 0, "signature")


def corrupted_words(count: int, positions: Sequence[int]) -> Corrupted:
    """A text of ``count`` words of two characters, some of them replaced by words of four."""
    clean = " ".join(f"w{position % 10}" for position in range(count))
    errors = [
        SubtleError((0, 0), (3 * position, 3 * position + 2), "", "long", 1, 0.5, step)
        for step, position in enumerate(positions)
    ]
    return substitute(clean, errors, len(errors))


@st.composite
def examples(draw: st.DrawFn) -> tuple[list[str], list[int]]:
    """Verdicts on a corrupted summary, and the positions of the errors."""
    verdicts = draw(st.lists(VERDICTS, min_size=1, max_size=9))
    places = st.integers(0, len(verdicts) - 1)
    return verdicts, draw(st.lists(places, unique=True, max_size=3))


def near(position: int, reach: int, count: int) -> set[int]:
    return {other for other in range(count) if abs(other - position) <= reach}


@settings(max_examples=100, deadline=None)
@given(summaries=st.lists(examples(), max_size=4), reach=st.integers(0, 3))
def test_counts_and_chance_are_those_of_trying_everything(
    summaries: list[tuple[list[str], list[int]]], reach: int
) -> None:
    corrupted = [corrupted_words(len(verdicts), positions) for verdicts, positions in summaries]
    explanations = [
        explained(c.text, verdicts) for c, (verdicts, _) in zip(corrupted, summaries, strict=True)
    ]
    (computed,) = detect(corrupted, explanations, reaches=[reach], resamples=5)
    alarms = near_alarms = errors = checkable = seen = 0
    near_by_chance = seen_by_chance = 0.0
    for verdicts, positions in summaries:
        count = len(verdicts)
        around = [near(position, reach, count) for position in positions]
        everywhere = set().union(*around)
        raised = {position for position, verdict in enumerate(verdicts) if verdict == "alarm"}
        checked = [position for position, verdict in enumerate(verdicts) if verdict != "absent"]
        alarms += len(raised)
        near_alarms += len(raised & everywhere)
        errors += len(positions)
        checkable += sum(any(position in checked for position in positions) for positions in around)
        seen += sum(bool(positions & raised) for positions in around)
        ways = [set(way) for way in combinations(checked, len(raised))]
        near_by_chance += fmean(len(way & everywhere) for way in ways)
        seen_by_chance += fmean(sum(bool(positions & way) for positions in around) for way in ways)
    assert (computed["errors"], computed["checkable"], computed["alarms"]) == (
        errors,
        checkable,
        alarms,
    )
    for name, part, whole in (
        ("precision", near_alarms, alarms),
        ("precision_by_chance", near_by_chance, alarms),
        ("precision_lift", near_alarms, near_by_chance),
        ("recall", seen, checkable),
        ("recall_by_chance", seen_by_chance, checkable),
        ("recall_lift", seen, seen_by_chance),
    ):
        assert computed[name] == pytest.approx(part / whole if whole else float("nan"), nan_ok=True)


def test_an_error_of_several_units_is_hit_by_any_of_them() -> None:
    corrupted = substitute("a dog b", [SubtleError((0, 0), (2, 5), "", "wolf", 1, 0.5, 0)], 1)
    units = [(0, 1, "match"), (2, 4, "match"), (4, 6, "alarm"), (7, 8, "match")]  # wo ##lf
    verdicts = tuple(UnitVerdict(*unit, None, None, None) for unit in units)
    shown = Explanation(corrupted.text, "s", verdicts, "token", 0, "")
    (computed,) = detect([corrupted], [shown], reaches=[0], resamples=1)
    assert (computed["recall"], computed["precision"]) == (1, 1)
    assert computed["precision_by_chance"] == 2 / 4
