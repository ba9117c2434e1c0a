"""How often annotators marked words of each kind as errors, looked up by signature.

``python -m experiments.training.record`` writes them into ``marked.json``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from estime_metric.explanation import Explanation, UnitVerdict
from estime_metric.operating_points import deciding

PATH = Path(__file__).with_name("marked.json")


@dataclass(frozen=True, slots=True)
class GradedShare:
    """The fraction that annotators marked among the checked words with a graded alarm of at least
    ``least`` and less than the ``least`` of the next entry.
    """

    least: float
    share: float


@dataclass(frozen=True, slots=True)
class MarkedShares:
    """Fractions of words that annotators marked, 0 to 1.

    Attributes:
        data: the summaries from which they were computed.
        absent: among the words that do not occur in the source.
        graded: among the checked words, by their graded alarm, in ascending order.
    """

    data: str
    absent: float
    graded: tuple[GradedShare, ...]

    def share(self, unit: UnitVerdict) -> float:
        """The fraction among words with this verdict and graded alarm."""
        if unit.verdict == "absent":
            return self.absent
        return [one.share for one in self.graded if one.least <= unit.graded_alarm][-1]

    @property
    def summary(self) -> str:
        """The fractions in one sentence."""
        graded = [f"{one.share:.0%} from {one.least:g}" for one in reversed(self.graded)]
        return (
            f"Annotators marked as errors {self.absent:.0%} of the words that are not in the source and, by graded alarm, "
            f"{', '.join(graded)} ({self.data})."
        )


def marked_shares(explanation: Explanation) -> MarkedShares | None:
    """The fractions for the settings of an explanation; ``None`` if there are none."""
    wanted = deciding(explanation.signature)
    for entry in _entries():
        if deciding(entry["signature"]) == wanted:
            graded = tuple(GradedShare(one["least"], one["share"]) for one in entry["graded"])
            return MarkedShares(entry["data"], entry["absent"]["share"], graded)
    return None


@cache
def _entries() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))
    return entries
