"""How many of such words annotators marked as errors, by ``python -m
estime_metric.studies.training.record``: what colours show.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from estime_metric.explanation import Explanation, UnitVerdict

PATH = Path(__file__).with_name("marked.json")  # of the shares by encoder


@dataclass(frozen=True, slots=True)
class Marked:
    """Shares of words that annotators marked, 0 to 1."""

    encoder: str  # with which they were measured
    data: str  # on what
    absent: float  # of words that the source lacks
    matches: float  # of words that match
    alarms: tuple[
        tuple[float, float], ...
    ]  # least relative margin, from 0 on, and the share from there to the next

    @property
    def _most(self) -> float:
        return max(self.absent, *(share for _, share in self.alarms))

    def share(self, unit: UnitVerdict) -> float:
        """Of words with such a verdict and margin."""
        if unit.verdict != "alarm":
            return self.absent if unit.verdict == "absent" else self.matches
        size = abs(unit.relative_margin or 0.0)
        return [share for least, share in self.alarms if least <= size][-1]

    def strength(self, unit: UnitVerdict) -> float:
        """How strong its colour is, 0 to 1: its share by the largest; 0 for a match."""
        return 0.0 if unit.verdict == "match" else self.share(unit) / self._most

    def levels(self) -> list[tuple[str, float, str]]:
        """The legend: verdict, strength and meaning, the strongest kind first."""
        found = [
            ("absent", self.absent / self._most, f"not in the source: {self.absent:.0%} marked")
        ]
        end = None
        for least, share in reversed(self.alarms):
            margin = f"from {least:.0%}" if end is None else f"{least:.0%} to {end:.0%}"
            margin = margin if least else f"under {end:.0%}"
            found.append(
                ("alarm", share / self._most, f"alarm, margin {margin}: {share:.0%} marked")
            )
            end = least
        return found

    @property
    def origin(self) -> str:
        """What the colours mean, in one sentence."""
        return (
            f"Colour: how many of such words annotators marked as errors ({self.data}; measured with {self.encoder}; "
            f"other words {self.matches:.0%}). A margin is a share of the best similarity."
        )


def marked_of(explanation: Explanation) -> Marked:
    """The shares of the encoder of an explanation; those of the first that ships for any other."""
    named = re.search(r"\|model:([^@|]+)", explanation.signature)
    entries = _entries()
    encoder = named[1] if named is not None and named[1] in entries else next(iter(entries))
    entry = entries[encoder]
    alarms = tuple((float(one["margin"]), float(one["share"])) for one in entry["alarms"])
    return Marked(
        encoder, entry["data"], entry["absent"]["share"], entry["matches"]["share"], alarms
    )


@cache
def _entries() -> dict[str, Any]:
    entries: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return entries
