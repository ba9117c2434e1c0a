"""What an explanation says in words: the counts with their meanings, one sentence for each unit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from estime_metric.config import LOW_COVERAGE
from estime_metric.explain.marked import marked_of
from estime_metric.explanation import Explanation, UnitVerdict
from estime_metric.measures import ALARM_WEIGHT, RECOMMENDED


@dataclass(frozen=True, slots=True)
class Count:
    """A number: how it is shown, what it means for any pair and for this one, whether in the colour
    of alarms.
    """

    name: str
    shown: str
    meaning: str
    detail: str = ""
    alarming: bool = False


def counts(explanation: Explanation) -> list[Count]:
    """The numbers of an explanation: the paper's score first, then the one to compare summaries by."""
    unit, alarms, overlap, tokens = (
        explanation.unit,
        explanation.alarms,
        explanation.overlap,
        explanation.tokens,
    )
    meaning = f"{unit}s whose best match in the source is another {unit}; the paper's score, lower is better"
    weighed = (
        f"{unit}s that the source lacks, and alarms with the weight {ALARM_WEIGHT:g}, of all {unit}s; lower is better; "
        "compare summaries by this"
    )
    checked = f"share of the {unit}s that occur in the source, and so are checked"
    return [
        Count("alarms", str(alarms), meaning, alarming=alarms > 0),
        Count(RECOMMENDED, share(explanation.value(RECOMMENDED)), weighed),
        Count(
            "alarm rate",
            share(explanation.value("alarm_rate")),
            f"alarms for each {unit} checked; lower is better",
        ),
        Count("coverage", share(explanation.value("coverage")), checked, f"{overlap} of {tokens}"),
    ]


def share(value: float) -> str:
    """A rate with three digits; a dash for NaN."""
    return "\u2013" if math.isnan(value) else f"{value:.3f}"


def remark(explanation: Explanation) -> str | None:
    """One sentence on a pair of which little or nothing was checked, or ``None``."""
    unit = explanation.unit
    if not explanation.tokens:
        return "The summary is empty, so there was nothing to check."
    if not explanation.overlap and unit == "word":
        return "The summary shares no word with its source. Then its words count as alarms."
    if not explanation.overlap:
        return "The summary shares no token with its source, so nothing was checked: 0 alarms say nothing."
    if explanation.value("coverage") < LOW_COVERAGE:
        return (
            f"Only {explanation.overlap} of {explanation.tokens} {unit}s occur in the source, so few were checked and "
            "the number of alarms says little. The inconsistency counts the others too."
        )
    return None


def note(explanation: Explanation, unit: UnitVerdict) -> str:
    """One sentence on a unit, or on a word made of several: its verdict and its evidence."""
    own = quoted(explanation.prediction[unit.start : unit.end])
    by = "" if unit.margin is None else f" (margin {margin(unit)})"
    marked = f"annotators marked {marked_of(explanation).share(unit):.0%} of such words"
    if unit.verdict == "alarm":
        return f"{own} is an alarm: its best match in the source is {_best_match(explanation, unit)}{by}; {marked}."
    if unit.verdict == "match":
        return f"{own} is a match: its best match in the source is the same{by}."
    leads_to = (
        "" if unit.best is None else f"; its context leads to {_best_match(explanation, unit)}"
    )
    return f"{own} is not in the source, so it is not checked{leads_to}; {marked}."


def margin(unit: UnitVerdict) -> str:
    """A margin with its sign and about three digits, or nothing."""
    if unit.margin is None:
        return ""
    size = abs(unit.margin)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{unit.margin:+.{decimals}f}".replace("-", "\u2212")


def quoted(text: str) -> str:
    """A text in quotation marks, white space as single spaces; isolated, so that its direction is
    its own.
    """
    return f"\u201c\u2068{' '.join(text.split())}\u2069\u201d"


def _best_match(explanation: Explanation, unit: UnitVerdict) -> str:
    return "" if unit.best is None else quoted(explanation.source[unit.best.start : unit.best.end])
