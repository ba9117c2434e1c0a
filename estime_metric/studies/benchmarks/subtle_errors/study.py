"""Subtle errors, from their measures to their plots, for
`estime_metric.studies.benchmarks.shared.study.run` (Vasilyev & Bohannon 2021, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from estime_metric.report.tables import Table
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import (
    divergence_block,
    rouge_block,
    trivial_block,
)
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.subtle_errors import plots, statistics, tables
from estime_metric.studies.benchmarks.subtle_errors.data import Versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SubtleErrorsStudy:
    """The study of subtle errors.

    Attributes:
        scorer: must compute all of `FURTHER_MEASURES`; if there are several layers, the positions
            of alarms are analyzed for the first one.
        baselines: whether measures that need no model are computed too.
        progress: whether the scorer shows its own bars.
    """

    scorer: EstimeScorer
    baselines: bool = True
    progress: bool = False

    def blocks(self, data: Versions | None = None) -> list[Block]:
        """ESTIME with all measures, then Jensen-Shannon, trivial baselines, and ROUGE against the
        source.
        """
        ours = estime_block(self.scorer, every_measure=True, progress=self.progress)
        if not self.baselines:
            return [ours]
        return [ours, divergence_block(), trivial_block(), rouge_block(None)]

    def analyze(self, scores: Scores[Versions], *, resamples: int = 1000, seed: int = 0) -> Frames:
        """See `statistics.analyze`."""
        return statistics.analyze(
            scores, self.scorer, resamples=resamples, seed=seed, progress=self.progress
        )

    def tables(self, scores: Scores[Versions], frames: Frames) -> list[Table]:
        """See `tables.make_tables`."""
        return tables.make_tables(scores, frames, statistics.located_layer(self.scorer))

    def draw(
        self, scores: Scores[Versions], frames: Frames, *, seed: int = 0
    ) -> Iterator[tuple[str, Figure]]:
        """See `plots.draw`."""
        return plots.draw(frames, statistics.located_layer(self.scorer))
