"""When a system is declared the winner: the fixed rule of ``estime compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import MEASURES, measure_of
from estime_metric.stats.paired import PairedComparison

#: A winner is declared if both measures favor it, each significantly after its own correction for
#: the number of pairs of systems. The rule was chosen on data kept apart, see docs/research/systems.md.
RULE = ("inconsistency", "alarms")

#: If the shares of checked tokens of two systems differ by more than this, measures that judge only
#: checked tokens cannot compare them. This limit is our choice; the study did not choose it.
COVERAGE_GAP = 0.25

#: If the summaries of one system are more than this many times as long as those of another, counts
#: cannot compare the two, and the shorter one is never declared the winner: a single word of the
#: source is consistent with it. This limit is our choice too.
LENGTH_RATIO = 4.0


@dataclass(frozen=True)
class System:
    """What a system wrote: the number of its ``summaries``, how many of them have no tokens
    (``blank``), and the ``means`` of ``tokens``, ``coverage`` and ``copied``, NaN for those that are
    not known; a blank summary has the coverage 0.
    """

    name: str
    summaries: int
    blank: int
    means: Mapping[str, float]


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


def vote(measure: str, first: System, second: System, test: PairedComparison) -> Vote:
    """The vote of a measure, from the test of its scores."""
    systems = [first, second]
    reasons = [reason for system in systems if (reason := unfit(measure, system))]
    definition = MEASURES[measure_of(measure)]
    shares = [system.means["coverage"] for system in systems]
    if not reasons and definition.checked_only and max(shares) - min(shares) > COVERAGE_GAP:
        reasons = [f"{' and '.join(map(_checked, systems))} were checked"]
    shorter, longer = sorted(systems, key=lambda system: system.means["tokens"])
    if not reasons and longer.means["tokens"] > LENGTH_RATIO * shorter.means["tokens"]:
        is_better = test.better == ("first" if shorter is first else "second")
        if definition.kind == "count" or is_better:
            reasons = [
                f"{shorter.name} has {shorter.means['tokens']:.1f} tokens per summary and "
                f"{longer.name} {longer.means['tokens']:.1f}"
            ]
    return Vote(measure, first.name, second.name, test, " and ".join(reasons))


def unfit(measure: str, system: System) -> str:
    """Why a measure cannot compare a system with any other one, as the end of a sentence; empty if it
    can.
    """
    definition = MEASURES[measure_of(measure)]
    if definition.kind == "count" and 2 * system.blank > system.summaries:
        return f"{system.blank} of {system.summaries} summaries of {system.name} are blank"
    if definition.checked_only and system.means["coverage"] < LOW_COVERAGE:
        return f"only {_checked(system)} were checked"
    return ""


def _checked(system: System) -> str:
    return f"{system.means['coverage']:.0%} of the tokens of {system.name}"
