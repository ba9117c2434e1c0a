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
PLACES = (
    "Ayr",
    "Bath",
    "Cork",
    "Deal",
    "Ely",
    "Fife",
    "Hove",
    "Jarrow",
    "Kent",
    "Leith",
    "Mold",
    "Nairn",
)
LONG = [
    f"{place} may not be crossed until another spring comes, so cars take long ways."
    for place in (*PLACES, "Oban", "Perth")
]
LOOP = " and so it goes on" * 10
REFUSAL = "I cannot answer."


def replaced(values: list[Any], number: int, by: Any) -> list[Any]:
    """The last values replaced."""
    return [*values[: len(values) - number], *([by] * number)]


def detected(hhem: list[Any] = GOOD, summary: Any = SHUT, **further: Any) -> pd.DataFrame:
    """Texts with a detector's column, in which higher is better; ``None`` leaves a column out."""
    columns = {"source": TOWNS[: len(hhem)], "summary": summary, "hhem": hhem, **further}
    return pd.DataFrame({name: cells for name, cells in columns.items() if cells is not None})


def scored(alarms: float, examples: int = 12, **further: Any) -> pd.DataFrame:
    """Scores of ESTIME; a cell that is not a list is that of each example."""
    known = {"alarms": alarms, "tokens": 20, "copied_density": 5.0, "blank": 0, "repetition": 0.0}
    return table(examples, **{**known, "coverage": 0.9, **further})


def cut(texts: list[str], words: int, number: int) -> list[str]:
    """The last texts cut to some words."""
    short = [" ".join(text.split()[:words]) for text in texts]
    return texts[: len(texts) - number] + short[len(texts) - number :]


def said(
    base: pd.DataFrame,
    new: pd.DataFrame,
    measure: str,
    *,
    direction: str = "higher",
    **options: Any,
) -> tuple[str, str]:
    """The verdict and its sentences."""
    directions = {direction: measure} if measure == "hhem" else {}
    comparison = compare_scores({"base": base, "new": new}, measures=measure, **directions)
    verdict, reasons = judge(comparison, **options)
    return verdict.name, "\n".join(reasons)


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        ({"alarms": 5}, "WORSE"),
        ({"alarms": 1, "copied_density": 6.3}, "COPIES"),
        ({"alarms": 1, "copied_density": 6.2}, "PASSED"),  # by less than a quarter
        ({"alarms": 1, "copied_density": [50.0] + [5.0] * 11}, "PASSED"),  # not significantly
        ({"alarms": 5, "copied_density": 9.0}, "WORSE"),  # before copying
        ({"alarms": 1, "coverage": 0.1}, "UNDECIDED"),  # cannot be compared
        ({"alarms": 1, "tokens": [20] * 9 + [6] * 3}, "UNDECIDED"),  # less than a third as long
        ({"alarms": 1, "tokens": [20] * 10 + [6] * 2}, "PASSED"),  # in less than a fifth
        ({"alarms": 1, "tokens": 7}, "PASSED"),
        ({"alarms": 1, "repetition": [0.0] * 9 + [0.4] * 3}, "UNDECIDED"),
        ({"alarms": 1, "repetition": 0.3}, "PASSED"),
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
        ({"summary": replaced(SHUT, 2, None)}, "INCOMPLETE", "blank are missing: base 0, new 2"),
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
        (
            {"summary": cut(LONG, 3, 3)},
            {},
            "UNDECIDED",
            "3 of 14 summaries of new have less than a third",
        ),
        ({"summary": cut(LONG, 3, 14)}, {"allow_shorter": True}, "PASSED", "equal in all"),
        ({"summary": cut(LONG, 3, 2)}, {}, "PASSED", "equal in all"),
        ({"summary": cut(LONG, 6, 14)}, {}, "PASSED", "equal in all"),
        # The runaways hide the cut summaries in a mean.
        (
            {
                "summary": cut(LONG[:2], 9, 0)
                + cut(LONG, 3, 14)[:10]
                + [text * 7 for text in LONG[:2]]
            },
            {},
            "UNDECIDED",
            "have less than a third",
        ),
        (
            {"summary": [text + LOOP for text in LONG]},
            {},
            "UNDECIDED",
            "14 of 14 .* repeat themselves",
        ),
        (
            {"summary": LONG[:8] + [text + LOOP for text in LONG[8:]]},
            {},
            "UNDECIDED",
            "6 of 14 summaries of new repeat themselves, and 0 of base; the first is line 8 \\('Kent may",
        ),
        ({"summary": [*LONG[:13], LONG[13] + LOOP]}, {}, "PASSED", "equal in all"),
        ({"summary": replaced(LONG, 3, "")}, {}, "UNDECIDED", "3 of 14 summaries of new are blank"),
        (
            {"summary": replaced(LONG, 6, REFUSAL)},
            {},
            "UNDECIDED",
            "6 of 14 .* one text.*cannot ans",
        ),
        ({"summary": replaced(LONG, 2, REFUSAL)}, {}, "PASSED", "equal in all"),
        ({"hhem": replaced(GOOD, 3, None)}, {}, "UNDECIDED", "3 of 14 .* no value of hhem"),
        ({"hhem": [0.97] * 14}, {}, "UNDECIDED", "14 of 14 .* one and the same value .*`range`"),
        (
            {"hhem": [90.0, 95.0] * 7},
            {},
            "UNDECIDED",
            r"14 of 14 .* far better .*\(90\.0\).*`range`",
        ),
        ({"hhem": [90.0, 95.0] * 7}, {"range": (0, 100)}, "PASSED", "not significantly worse"),
        (
            {"hhem": [0.97, 1.2] * 7},
            {"range": (0, 1)},
            "UNDECIDED",
            "7 of 14 .* outside the stated",
        ),
        ({"hhem": [0.97, 0.98] * 7}, {}, "UNDECIDED", "far better than all .*`range`"),
        ({"hhem": [0.97] * 14}, {"range": (0, 1)}, "PASSED", "not significantly worse"),
        # A tolerance is for the measure that decides.
        (
            {"hhem": [score - 0.03 for score in GOOD]},
            {"tolerance": 0.04},
            "PASSED",
            r"not shown to be worse than base by more than 0\.04 .* is 0\.0300 \[",
        ),
        (
            {"hhem": [score - 0.03 for score in GOOD]},
            {"tolerance": 0.02},
            "WORSE",
            "significantly worse than base by more than 0.02",
        ),
        ({"summary": TOWNS[:14]}, {"tolerance": 1}, "COPIES", "copies significantly more"),
        ({"summary": TOWNS[:14]}, {"allow_copying": True}, "PASSED", "equal in all"),
        # A difference of a millionth is shown as one.
        (
            {"hhem": [score - 2e-6 for score in GOOD]},
            {},
            "WORSE",
            r"is 2\.00e-06 \[2\.00e-06, 2\.00",
        ),
    ],
)
def test_rows_that_a_score_cannot_judge_are_not_passed(
    changed: dict[str, Any], options: dict[str, Any], verdict: str, reason: str
) -> None:
    """The reason that decided comes first."""
    new = detected(**{"summary": LONG, **changed})
    came, reasons = said(detected(summary=LONG), new, "hhem", **options)
    assert came == verdict
    assert re.search(reason, reasons.splitlines()[0])


@pytest.mark.parametrize(
    ("base", "new", "direction", "verdict"),
    [
        ([1, 0, 0, 1] * 10, [1, 0, 0, -1, -1] * 8, "lower", "UNDECIDED"),
        ([1, 2, 3, 4, 5] * 8, [1, 2, 3, -1, -1] * 8, "lower", "UNDECIDED"),
        ([1, 2, 3, 4, 5] * 8, [9, 2, 3, 4, 5] * 8, "higher", "UNDECIDED"),
        ([1, 2] * 20, [4, 5] * 20, "higher", "UNDECIDED"),
        ([1] * 22 + [0] * 18, [1] * 30 + [0] * 10, "higher", "PASSED"),
        ([1] * 36 + [0] * 4, [1] * 40, "higher", "PASSED"),
        ([1, 2, 3, 4] * 10, [1, 5, 3, 4] * 10, "higher", "PASSED"),
        ([0.5, 0.9, -1, 0.7] * 10, [0.5, 0.9, 0.8, 0.7] * 10, "lower", "WORSE"),  # mended
    ],
)
def test_values_that_no_scale_explains_are_not_passed(
    base: list[float], new: list[float], direction: str, verdict: str
) -> None:
    systems = [detected(values, "It is shut.") for values in (base, new)]
    assert said(*systems, "hhem", direction=direction)[0] == verdict


def test_what_failed_before_is_not_held_against_the_system_that_mends_it() -> None:
    """A base with runaways is longer and copies less."""
    mended = [*TOWNS[:2], *LONG[2:]]
    base = detected(summary=[text * 120 for text in LONG[:2]] + LONG[2:])
    assert said(base, detected(summary=mended), "hhem")[0] == "PASSED"
    loops = {"copied_density": [0.1] * 2 + [5.0] * 12, "repetition": [0.9] * 2 + [0.0] * 12}
    alarms = [scored(3, 14, tokens=[1440] * 2 + [20] * 12, **loops), scored(2, 14)]
    assert said(*alarms, "alarms")[0] == "PASSED"
    assert said(*reversed(alarms), "alarms")[0] == "WORSE"


@pytest.mark.parametrize(
    ("difference", "verdict", "reason"),
    [
        (0.005, "PASSED", r"worse than base by 0\.00500, less than 0\.005,"),
        (0.006, "WORSE", "significantly worse than base in"),
    ],
)
def test_a_slight_difference_of_inconsistency_is_not_worse(
    difference: float, verdict: str, reason: str
) -> None:
    base, new = (scored(3, inconsistency=[value] * 12) for value in (0.2, 0.2 + difference))
    came, reasons = said(base, new, "inconsistency")
    assert came == verdict
    assert re.search(reason, reasons)


@pytest.mark.parametrize(
    ("measure", "verdict"), [("inconsistency", "INCOMPLETE"), ("alarm_rate", "PASSED")]
)
def test_a_value_is_missing_if_it_cannot_be_undefined(measure: str, verdict: str) -> None:
    base, new = (scored(3, **{measure: [0.1] * 56 + end}) for end in ([0.1] * 5, [None] * 5))
    came, reasons = said(base, new, measure)
    assert came == verdict
    assert (f"{measure} are missing: base 0, new 5" in reasons) == (verdict == "INCOMPLETE")
    assert "does not see whether summaries are one text" in reasons  # there are no texts


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
