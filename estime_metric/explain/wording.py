"""What an explanation says in words: the counts with their meanings, one sentence for each unit."""

from __future__ import annotations

from dataclasses import dataclass

from estime_metric.explanation import Explanation, UnitVerdict


@dataclass(frozen=True, slots=True)
class Count:
    """One number of an explanation: its name, the number as it is shown, and what it means."""

    name: str
    shown: str
    meaning: str


def counts(explanation: Explanation) -> list[Count]:
    """The numbers of an explanation, the score first."""
    unit, alarms, overlap, tokens = explanation.unit, explanation.alarms, explanation.overlap, explanation.tokens
    return [
        Count("alarms", str(alarms), f"{unit}s whose best match in the source is another {unit}; lower is better"),
        Count("alarm rate", f"{alarms / max(1, overlap):.3f}", f"alarms for each {unit} checked; lower is better"),
        Count("checked", str(overlap), f"{unit}s that occur in the source"),
        Count(f"{unit}s", str(tokens), "in the whole summary"),
    ]


def remark(explanation: Explanation) -> str | None:
    """One sentence on a pair in which nothing was checked, ``None`` for any other."""
    if explanation.overlap:
        return None
    if not explanation.tokens:
        return "The summary is empty, so there was nothing to check."
    if explanation.unit == "word":
        return "The summary shares no word with its source. Then its words count as alarms."
    return "The summary shares no token with its source, so nothing was checked."


def note(explanation: Explanation, unit: UnitVerdict) -> str:
    """One sentence on a unit, or on a word made of several: its verdict and its evidence."""
    own = quoted(explanation.prediction[unit.start : unit.end])
    by = "" if unit.margin is None else f" (margin {margin(unit)})"
    if unit.verdict == "alarm":
        return f"{own} is an alarm: its best match in the source is {_place(explanation, unit)}{by}."
    if unit.verdict == "match":
        return f"{own} is a match: its best match in the source is the same{by}."
    found = "" if unit.best is None else f"; its context leads to {_place(explanation, unit)}"
    return f"{own} is not in the source, so it is not checked{found}."


def margin(unit: UnitVerdict) -> str:
    """A margin with its sign and about three digits, or nothing."""
    if unit.margin is None:
        return ""
    size = abs(unit.margin)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{unit.margin:+.{decimals}f}".replace("-", "\u2212")


def quoted(text: str) -> str:
    """A text in quotation marks, white space as single spaces; isolated, so that its direction is its own."""
    return f"\u201c\u2068{' '.join(text.split())}\u2069\u201d"


def strength(unit: UnitVerdict) -> float:
    """How clear an alarm is, 0 to 1: its margin as a share of the best similarity, 1 from a half on."""
    if unit.verdict != "alarm" or unit.margin is None or unit.best is None:
        return 0.0
    return min(1.0, -2 * unit.margin / max(abs(unit.best.similarity), 1e-9))


def _place(explanation: Explanation, unit: UnitVerdict) -> str:
    return "" if unit.best is None else quoted(explanation.source[unit.best.start : unit.best.end])
