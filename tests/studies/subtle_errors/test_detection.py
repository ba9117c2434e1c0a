"""Where alarms fall: against an oracle that tries every way in which they could fall."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.explanation import Explanation, UnitVerdict
from estime_metric.studies.subtle_errors import Corrupted, SubtleError
from estime_metric.studies.subtle_errors.generator import substitute
from estime_metric.studies.subtle_errors.statistics import detect

VERDICTS = st.sampled_from(["match", "alarm", "absent"])


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
def examples(draw: st.DrawFn) -> tuple[list[str], list[str], list[int]]:
    """Verdicts on the corrupted and the clean summary, and the positions of the errors."""
    count = draw(st.integers(1, 9))
    verdicts, before = (draw(st.lists(VERDICTS, min_size=count, max_size=count)) for _ in range(2))
    return verdicts, before, draw(st.lists(st.integers(0, count - 1), unique=True, max_size=3))


def near(position: int, reach: int, count: int) -> set[int]:
    return {other for other in range(count) if abs(other - position) <= reach}


@settings(max_examples=100, deadline=None)
@given(summaries=st.lists(examples(), min_size=1, max_size=4), reach=st.integers(0, 3))
def test_counts_and_chance_are_those_of_trying_everything(
    summaries: list[tuple[list[str], list[str], list[int]]], reach: int
) -> None:
    corrupted = [corrupted_words(len(verdicts), positions) for verdicts, _, positions in summaries]
    explanations = [explained(c.text, verdicts) for c, (verdicts, _, _) in zip(corrupted, summaries, strict=True)]
    clean = [explained(c.clean, before) for c, (_, before, _) in zip(corrupted, summaries, strict=True)]
    (found,) = detect(corrupted, explanations, clean, reaches=[reach], resamples=5)
    alarms = near_alarms = errors = checkable = seen = before_seen = 0
    near_by_chance = seen_by_chance = 0.0
    for verdicts, before, positions in summaries:
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
        before_seen += sum(any(before[position] == "alarm" for position in positions) for positions in around)
        ways = [set(way) for way in combinations(checked, len(raised))]
        near_by_chance += fmean(len(way & everywhere) for way in ways)
        seen_by_chance += fmean(sum(bool(positions & way) for positions in around) for way in ways)
    assert (found["errors"], found["checkable"], found["alarms"]) == (errors, checkable, alarms)
    for name, part, whole in (
        ("precision", near_alarms, alarms),
        ("precision_by_chance", near_by_chance, alarms),
        ("precision_lift", near_alarms, near_by_chance),
        ("recall", seen, checkable),
        ("recall_by_chance", seen_by_chance, checkable),
        ("recall_lift", seen, seen_by_chance),
        ("recall_of_all", seen, errors),
        ("before", before_seen, errors),
        ("gain", seen - before_seen, errors),
    ):
        assert found[name] == pytest.approx(part / whole if whole else float("nan"), nan_ok=True)


def test_an_error_of_several_units_is_hit_by_any_of_them() -> None:
    corrupted = substitute("a dog b", [SubtleError((0, 0), (2, 5), "", "wolf", 1, 0.5, 0)], 1)
    units = [(0, 1, "match"), (2, 4, "match"), (4, 6, "alarm"), (7, 8, "match")]  # wo ##lf
    verdicts = tuple(UnitVerdict(*unit, None, None, None) for unit in units)
    shown = Explanation(corrupted.text, "s", verdicts, "token", 0, "")
    before = explained("a dog b", ["match", "match", "match"])
    (found,) = detect([corrupted], [shown], [before], reaches=[0], resamples=1)
    assert (found["recall"], found["precision"]) == (1, 1)
    assert found["precision_by_chance"] == 2 / 4


def test_nothing_to_count_gives_nan_and_other_texts_are_refused() -> None:
    (found,) = detect([], [], [], reaches=[0])
    assert (found["errors"], found["alarms"]) == (0, 0)
    assert np.isnan([found["precision"], found["recall_low"], found["gain_high"]]).all()
    corrupted = corrupted_words(2, [0])
    own, clean = explained(corrupted.text, ["match"] * 2), explained(corrupted.clean, ["match"] * 2)
    with pytest.raises(ValueError, match="`explanations` to be of the same text at index 0"):
        detect([corrupted], [clean], [clean])
    with pytest.raises(ValueError, match="`clean` to be of the same text at index 0"):
        detect([corrupted], [own], [own])
    with pytest.raises(ValueError, match="to be of one length, but got 1, 0 and 1"):
        detect([corrupted], [], [clean])
