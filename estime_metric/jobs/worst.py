"""The worst summaries of a job, which are the ones to look at first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from estime_metric import files
from estime_metric.jobs.chunks import JobPairs
from estime_metric.jobs.earlier import Values
from estime_metric.jobs.job import Job
from estime_metric.measures import RECOMMENDED

if TYPE_CHECKING:
    from estime_metric.explanation import Explanation
    from estime_metric.scorer import EstimeScorer


@dataclass(frozen=True, order=True)
class WorstPair:
    """One of the worst summaries; the larger, the worse.

    Attributes:
        value: its ``inconsistency``.
        earlier: minus its place in the job, so that the first of equal values counts as the worst.
        file: its file.
        line: the line there.
        summary, source: the texts.
    """

    value: float
    earlier: int
    file: str = field(compare=False)
    line: int = field(compare=False)
    summary: str = field(compare=False)
    source: str = field(compare=False)


class WorstPairs:
    """Keeps the summaries with the largest ``inconsistency``: pass `add` as ``on_scored`` to
    `score_files`, of a job with one layer.

    Args:
        job: what is scored.
        number: how many are kept at most.
        only_flagged: whether only summaries count that the job flags.
    """

    def __init__(self, job: Job, number: int, *, only_flagged: bool) -> None:
        self._number, self._only_flagged = number, only_flagged
        self._kept: list[WorstPair] = []  # a heap
        self._seen = 0

    def add(self, pairs: JobPairs, values: Values) -> None:
        """Pairs with their values by column."""
        flags: Sequence[files.Number] = (
            values[files.FLAG] if self._only_flagged else [1] * len(pairs)
        )
        for index, value in enumerate(values[RECOMMENDED]):
            self._seen += 1
            if value is None or not flags[index]:
                continue
            pair = WorstPair(
                value=value,
                earlier=-self._seen,
                file=str(pairs.paths[index]),
                line=pairs.lines[index],
                summary=pairs.summaries[index],
                source=pairs.sources[index],
            )
            if len(self._kept) < self._number:
                heapq.heappush(self._kept, pair)
            else:
                heapq.heappushpop(self._kept, pair)

    @property
    def pairs(self) -> list[WorstPair]:
        """What was kept, the worst first."""
        return sorted(self._kept, reverse=True)

    def explained(self, scorer: EstimeScorer) -> list[tuple[WorstPair, Explanation]]:
        """What was kept, the worst first, each with the verdicts on its words."""
        pairs = self.pairs
        if not pairs:
            return []
        explanations = scorer.explain_pairs(
            [pair.summary for pair in pairs], [pair.source for pair in pairs]
        )
        return list(zip(pairs, explanations, strict=True))
