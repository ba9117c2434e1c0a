"""Whether a new system may take the place of another."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from estime_metric.compare import compare_scores, judge
from tests.compare.tables import compared, table

TOWNS = [f"Town {number} closed its old bridge because of rust." for number in range(40)]
SHUT = ["It is shut."] * 14
GOOD = [0.9, 0.95] * 7
LONG = ["Nobody may cross the river there until next spring arrives again."] * 7 + [
    "Cars must take another road into this place for many months."
] * 7
CUT = ["Nobody may cross"] * 7 + ["Cars must take"] * 7


def replaced(values: list[Any], number: int, by: Any) -> list[Any]:
    """The last values replaced."""
    return [*values[: len(values) - number], *([by] * number)]


def detected(hhem: list[Any] = GOOD, summary: Any = SHUT, **further: Any) -> pd.DataFrame:
    """Texts with a detector's column, in which higher is better; ``None`` leaves a column out."""
    columns = {"source": TOWNS[: len(hhem)], "summary": summary, "hhem": hhem, **further}
    return pd.DataFrame({name: cells for name, cells in columns.items() if cells is not None})


def scored(alarms: float, examples: int = 12, **further: Any) -> pd.DataFrame:
    """Scores of ESTIME; a cell that is not a list is that of each example."""
    known = {"alarms": alarms, "tokens": 20, "copied_density": 5.0, "blank": 0}
    return table(examples, **{**known, "coverage": 0.9, **further})


def said(base: pd.DataFrame, new: pd.DataFrame, measure: str, **options: Any) -> tuple[str, str]:
    """The verdict and its sentences."""
    higher = "hhem" if measure == "hhem" else ()
    comparison = compare_scores({"base": base, "new": new}, measures=measure, higher=higher)
    verdict, reasons = judge(comparison, **options)
    return verdict.name, "\n".join(reasons)


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        ({"alarms": 5}, "WORSE"),
        ({"alarms": 1, "copied_density": 5.6}, "COPIES"),
        ({"alarms": 1, "copied_density": 5.4}, "PASSED"),  # by less than a tenth
        ({"alarms": 1, "copied_density": [50.0] + [5.0] * 11}, "PASSED"),  # not significantly
        ({"alarms": 5, "copied_density": 9.0}, "WORSE"),  # before copying
        ({"alarms": 1, "coverage": 0.1}, "UNDECIDED"),  # cannot be compared
        ({"alarms": 1, "tokens": 9}, "UNDECIDED"),  # less than half as long
        ({"alarms": 1, "tokens": 10}, "PASSED"),
        ({"alarms": 1, "blank": [0] * 6 + [None] * 6}, "INCOMPLETE"),
        ({"alarms": 5, "examples": 11}, "WORSE"),  # before what is missing
    ],
)
def test_a_gate_by_a_measure(new: dict[str, Any], verdict: str) -> None:
    """Whatever the order of the systems."""
    systems = {"new": scored(**new), "base": scored(3)}
    assert said(systems["base"], systems["new"], "alarms")[0] == verdict
    assert judge(compare_scores(systems, measures="alarms", baseline="base"))[0].name == verdict


@pytest.mark.parametrize(
    ("changed", "verdict", "reason"),
    [
        ({}, "PASSED", r"new and base are equal in all 14 examples in hhem \(higher is better\)\."),
        (
            {"hhem": replaced(GOOD, 1, 0.8)},
            "PASSED",
            r"base minus new is 0\.0107 \[0\.00, 0\.03.*\], 1 of 14 sources",
        ),
        (
            {"hhem": [0.5] * 14},
            "WORSE",
            r"significantly worse than base in hhem \(higher is better\): base minus new is 0\.425 \[",
        ),
        (
            {"hhem": replaced(GOOD, 5, 0.0)},
            "UNDECIDED",
            r"apparently worse .* 5 of 14 .* \(significance needs 6\)",
        ),
        ({"summary": replaced(SHUT, 6, " ")}, "WORSE", "significantly more blank summaries than"),
        ({"summary": replaced(SHUT, 5, "")}, "UNDECIDED", "apparently more blank summaries"),
        (
            {"summary": TOWNS[:14]},
            "COPIES",
            "new copies significantly more than base: copied_density 9.0 and 0.0",
        ),
        ({"summary": [*SHUT[:9], *TOWNS[9:14]]}, "UNDECIDED", "copies apparently more than base"),
        ({"hhem": replaced(GOOD, 2, None)}, "INCOMPLETE", "hhem are missing: base 0, new 2"),
        ({"hhem": GOOD[:12], "summary": SHUT[:12]}, "INCOMPLETE", "no counterpart: base 2, new 0"),
        ({"summary": replaced(SHUT, 2, None)}, "INCOMPLETE", "Copying is judged on 12 of 14 exam"),
        # A column of one's own never describes a system.
        ({"copied_density": 0.0, "blank": 0, "summary": TOWNS[:14]}, "COPIES", "copies signif"),
    ],
)
def test_a_gate_by_a_column_of_others(changed: dict[str, Any], verdict: str, reason: str) -> None:
    """The copying is computed from the texts."""
    came, reasons = said(detected(), detected(**changed), "hhem")
    assert came == verdict
    assert re.search(reason, reasons)


@pytest.mark.parametrize(
    ("changed", "options", "verdict", "reason"),
    [
        ({"summary": CUT}, {}, "UNDECIDED", "new has 3.0 words"),
        ({"summary": CUT}, {"allow_shorter": True}, "PASSED", ""),
        ({"summary": [text[: len(text) // 2 + 3] for text in LONG]}, {}, "PASSED", "equal in all"),
        (
            {"summary": ["I cannot say with certainty what the text says."] * 8 + LONG[6:12]},
            {},
            "UNDECIDED",
            "Most summaries of new are one text: 'I cannot say",
        ),
        ({"summary": [" ".join([text] * 5) for text in LONG]}, {}, "PASSED", "text several times"),
        # A tolerance is for the measure that decides.
        ({"hhem": [score - 0.03 for score in GOOD]}, {"tolerance": 0.04}, "PASSED", "is 0.0300 ["),
        (
            {"hhem": [score - 0.03 for score in GOOD]},
            {"tolerance": 0.02},
            "WORSE",
            "more than 0.02",
        ),
        ({"summary": TOWNS[:14]}, {"tolerance": 1}, "COPIES", "copies significantly more"),
        # A difference of a millionth is shown as one.
        ({"hhem": [score - 2e-6 for score in GOOD]}, {}, "WORSE", "is 2.00e-06 [2.00e-06, 2.00"),
        # Other scales.
        (
            {"hhem": [90.0, 95.0] * 7},
            {},
            "UNDECIDED",
            "another scale: 95.0 is far outside the values",
        ),
        ({"hhem": [0.99, 1.02] * 7}, {}, "UNDECIDED", "hhem of new is 1.02 in 7 rows"),
    ],
)
def test_what_a_score_cannot_show_is_not_passed(
    changed: dict[str, Any], options: dict[str, Any], verdict: str, reason: str
) -> None:
    new = detected(**{"summary": LONG, **changed})
    came, reasons = said(detected(summary=LONG), new, "hhem", **options)
    assert (came, reason in reasons) == (verdict, True)


@pytest.mark.parametrize(
    ("measure", "verdict"), [("inconsistency", "INCOMPLETE"), ("alarm_rate", "PASSED")]
)
def test_a_value_is_missing_if_it_cannot_be_undefined(measure: str, verdict: str) -> None:
    base, new = (scored(3, **{measure: [0.1] * 25 + end}) for end in ([0.1] * 5, [None] * 5))
    came, reasons = said(base, new, measure)
    assert came == verdict
    assert (f"{measure} are missing: base 0, new 5" in reasons) == (verdict == "INCOMPLETE")
    assert "does not see whether one text is repeated" in reasons  # there are no texts


def test_significantly_more_summaries_without_a_value_are_not_passed() -> None:
    """Eighteen of forty, which as zeros would be significantly worse."""
    base = detected([0.9] * 40, "It is shut.")
    for bad, verdict in ((0.0, "WORSE"), (None, "UNDECIDED"), ("", "UNDECIDED")):
        new = detected(replaced([0.9] * 40, 18, bad), "It is shut.")
        assert said(base, new, "hhem")[0] == verdict


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ([scored(3)] * 3, {}, "two systems to decide whether one is worse, but got 3"),
        ([scored(3)] * 2, {"measures": "tokens"}, "tokens has none. Choose another one"),
        ([detected()] * 2, {"measures": "hhem"}, "hhem has none. Name it with `higher` or"),
        ([scored(3, 9)] * 2, {}, "at least 10 sources with values of alarms .* but got 9"),
        ([scored(3), scored(1, copied_density=None)], {}, "texts of B, or its copied_density"),
    ],
)
def test_no_verdict_is_possible(
    systems: list[pd.DataFrame], options: dict[str, Any], message: str
) -> None:
    comparison = compared(*systems, **{"measures": "alarms", **options})
    with pytest.raises(ValueError, match=message):
        judge(comparison)


def test_a_tolerance_is_a_finite_number_of_at_least_0() -> None:
    for tolerance in (-0.1, float("inf")):
        with pytest.raises(ValueError, match="`tolerance` to be 0 or more, but got"):
            judge(compared(scored(3), scored(3), measures="alarms"), tolerance=tolerance)
