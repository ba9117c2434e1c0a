"""When a system is declared the winner: the fixed rule of ``estime compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from estime_metric.stats.paired import PairedComparison

#: A winner is declared if both measures favor it, each significantly after its own correction for
#: the number of pairs of systems. The rule was chosen on data kept apart, see docs/research/systems.md.
RULE = ("inconsistency", "alarms")

#: If the shares of checked tokens of two systems differ by more than this, measures that judge only
#: checked tokens cannot compare them.
COVERAGE_GAP = 0.25


@dataclass(frozen=True)
class Vote:
    """What one measure says of two systems.

    Attributes:
        measure: its column.
        first, second: the names of the systems.
        test: the comparison of their scores.
        silence: why the measure cannot compare them, as the end of a sentence; empty if it can.
    """

    measure: str
    first: str
    second: str
    test: PairedComparison
    silence: str

    @property
    def favors(self) -> str | None:
        """The system that is significantly better; ``None`` if there is none, or if the measure
        cannot compare the two.
        """
        if self.silence or self.test.better is None:
            return None
        return self.first if self.test.better == "first" else self.second


@dataclass(frozen=True)
class Verdict:
    """What one measure, or the two of `RULE`, say together of two systems."""

    votes: Sequence[Vote]

    @property
    def winner(self) -> str | None:
        """The system that all measures that can compare the two favor; ``None`` if there is none."""
        favored = {vote.favors for vote in self.votes if not vote.silence}
        return favored.pop() if len(favored) == 1 else None
