"""How often annotators marked words of each kind as errors, looked up by signature.

``python -m experiments.training.record`` writes them into ``marked.json``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from estime_metric.explain.data import Verdict
from estime_metric.signature import Signature

PATH = Path(__file__).with_name("marked.json")


@dataclass(frozen=True, slots=True)
class MarkedShares:
    """Fractions of words that annotators marked, 0 to 1.

    Attributes:
        data: the summaries from which they were computed.
        absent: among the words that do not occur in the source.
        graded: the lowest graded alarm and the fraction of each class of checked words, in
            ascending order.
    """

    data: str
    absent: float
    graded: tuple[tuple[float, float], ...]

    def share(self, word: Verdict) -> float:
        """The fraction among words with this verdict and graded alarm."""
        if word.verdict == "absent":
            return self.absent
        return [share for least, share in self.graded if least <= word.graded_alarm][-1]

    @property
    def summary(self) -> str:
        """The fractions in one sentence."""
        graded = [f"{share:.0%} from {least:g}" for least, share in reversed(self.graded)]
        return (
            f"Annotators marked as errors {self.absent:.0%} of the words that are not in the source and, by graded alarm, "
            f"{', '.join(graded)} ({self.data})."
        )


def marked_shares(signature: str) -> MarkedShares | None:
    """The fractions for a signature; ``None`` if there are none."""
    settings = deciding(signature)
    for entry in _entries():
        if deciding(entry["signature"]) == settings:
            graded = tuple((group["least"], group["share"]) for group in entry["graded"])
            return MarkedShares(entry["data"], entry["absent"]["share"], graded)
    return None


def deciding(signature: str) -> dict[str, str]:
    """The parts of a signature that decide what a value means."""
    parts = Signature(signature).parts
    indifferent = ("dtype", "soft", "version")
    return {name: value for name, value in parts.items() if name not in indifferent}


@cache
def _entries() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))
    return entries
