"""SummEdits, from its measures to its plot, for
`estime_metric.studies.benchmarks.shared.study.run`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from estime_metric.report.tables import Table
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.summedits import plots, statistics, tables
from estime_metric.studies.benchmarks.summedits.data import SummEdits

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SummEditsStudy:
    """The study of SummEdits.

    Attributes:
        scorer: must compute all of `FURTHER_MEASURES`.
        progress: whether the scorer shows its own bar.
    """

    scorer: EstimeScorer
    progress: bool = False

    def blocks(self, data: SummEdits) -> list[Block]:
        """ESTIME with every measure, and trivial baselines."""
        return [
            estime_block(self.scorer, every_measure=True, progress=self.progress),
            trivial_block(),
        ]

    def analyze(self, scores: Scores[SummEdits], *, resamples: int = 1000, seed: int = 0) -> Frames:
        """See `statistics.analyze`."""
        return statistics.analyze(scores, resamples=resamples, seed=seed)

    def tables(self, scores: Scores[SummEdits], frames: Frames) -> list[Table]:
        """See `tables.make_tables`."""
        return tables.make_tables(scores, frames)

    def draw(
        self, scores: Scores[SummEdits], frames: Frames, *, seed: int = 0
    ) -> Iterator[tuple[str, Figure]]:
        """See `plots.draw`."""
        return plots.draw(frames)
