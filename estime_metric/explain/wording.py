"""The words of an explanation: the counts with their meanings, the legend, one sentence for each unit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from estime_metric.config import LOW_COVERAGE
from estime_metric.explain.marked import marked_shares
from estime_metric.explanation import Explanation, UnitVerdict
from estime_metric.measures import RECOMMENDED

#: A word that was checked is colored from this graded alarm on.
LEAST_COLORED = 0.1

#: A graded alarm above this is an alarm.
ALARM_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Count:
    """A number: how it is shown, what it means in general and for this pair, and whether it has the color
    of alarms.
    """

    name: str
    shown: str
    meaning: str
    detail: str = ""
    alarming: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One kind of word in the legend: its verdict, how strong its color is (0 to 1), its meaning."""

    verdict: str
    strength: float
    meaning: str


#: The kinds of words that are colored.
LEGEND = (
    Sample("absent", 1.0, "not in the source"),
    Sample(
        "alarm",
        0.8,
        f"alarm: a different word of the source fits better (graded alarm over {ALARM_FROM:g})",
    ),
    Sample(
        "match",
        0.3,
        f"match, but a different word fits nearly as well (graded alarm {LEAST_COLORED:g} to {ALARM_FROM:g})",
    ),
)


def strength(unit: UnitVerdict) -> float:
    """How strongly a unit is colored, 0 to 1: its graded alarm, 1 if it is absent, 0 below
    `LEAST_COLORED`.
    """
    if unit.verdict == "absent":
        return 1.0
    return unit.graded_alarm if unit.graded_alarm >= LEAST_COLORED else 0.0


def origin(explanation: Explanation) -> str:
    """What the colors mean, and how often annotators marked words of each kind if that is known for these
    settings.
    """
    marked = marked_shares(explanation)
    said = "The color is the graded alarm of a word, from 0 to 1."
    return said if marked is None else f"{said} {marked.summary}"


def counts(explanation: Explanation) -> list[Count]:
    """The numbers of an explanation: first the one by which to compare summaries, then its parts and the
    paper's score.
    """
    unit = explanation.unit
    return [
        Count(
            RECOMMENDED,
            share(explanation.value(RECOMMENDED)),
            "0 to 1, lower is better; use this to compare summaries",
        ),
        Count(
            "alarms",
            str(explanation.alarms),
            f"{unit}s whose best match in the source is a different {unit}: the paper's score",
            alarming=explanation.alarms > 0,
        ),
        Count(
            "graded alarms",
            f"{explanation.graded_alarms:.2f}",
            f"like alarms, but each checked {unit} counts from 0 to 1",
        ),
        Count(
            "new words",
            share(explanation.value("new_words")),
            "fraction of the words that do not occur in the source",
        ),
        Count(
            "new trigrams",
            share(explanation.value("new_trigrams")),
            "fraction of the word trigrams that do not occur in the source",
        ),
    ]


def share(value: float) -> str:
    """A rate with three digits; a dash for NaN."""
    return "\u2013" if math.isnan(value) else f"{value:.3f}"


def remark(explanation: Explanation) -> str | None:
    """A sentence about a pair if little or nothing was checked, otherwise ``None``."""
    unit = explanation.unit
    if not explanation.tokens:
        return "The summary is empty, so there was nothing to check."
    if not explanation.overlap and unit == "word":
        return "The summary shares no word with its source, so all its words count as alarms."
    if not explanation.overlap:
        return (
            "The summary shares no token with its source, so nothing was checked, and 0 alarms do not mean that the "
            "summary is consistent. The inconsistency is 1, the worst value."
        )
    if explanation.value("coverage") < LOW_COVERAGE:
        return (
            f"Only {explanation.overlap} of {explanation.tokens} {unit}s occur in the source, so few were checked, and "
            "the number of alarms is not informative. The inconsistency also counts the unchecked ones."
        )
    return None


def note(explanation: Explanation, unit: UnitVerdict) -> str:
    """One sentence on a unit, or on a word made of several: its verdict and its evidence."""
    own = quoted(explanation.prediction[unit.start : unit.end])
    graded = f"graded alarm {unit.graded_alarm:.2f}"
    by = graded if unit.margin is None else f"margin {margin(unit)}, {graded}"
    marked = marked_shares(explanation)
    said = (
        ""
        if marked is None
        else f"; annotators marked {marked.share(unit):.0%} of such words as errors"
    )
    if unit.verdict == "alarm":
        best = _best_match(explanation, unit)
        return f"{own} is an alarm: its best match in the source is {best} ({by}){said}."
    if unit.verdict == "match":
        return f"{own} is a match: its best match in the source is the same ({by})."
    leads_to = (
        "" if unit.best is None else f"; its context leads to {_best_match(explanation, unit)}"
    )
    if explanation.is_written_in_source(unit):
        return f"{own} occurs in the source, but not as the same {explanation.unit}, so it is not checked{leads_to}."
    return f"{own} is not in the source, so it is not checked{leads_to}{said}."


def margin(unit: UnitVerdict) -> str:
    """A margin with its sign and about three digits, or nothing."""
    if unit.margin is None:
        return ""
    size = abs(unit.margin)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{unit.margin:+.{decimals}f}".replace("-", "\u2212")


def quoted(text: str) -> str:
    """A text in quotation marks, with single spaces. It is isolated, so that its direction of writing does
    not affect the text around it.
    """
    return f"\u201c\u2068{' '.join(text.split())}\u2069\u201d"


def _best_match(explanation: Explanation, unit: UnitVerdict) -> str:
    return "" if unit.best is None else quoted(explanation.source[unit.best.start : unit.best.end])
