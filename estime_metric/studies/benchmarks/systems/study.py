"""The study of systems, from its measures to its plot, for
`estime_metric.studies.benchmarks.shared.study.run`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from estime_metric.report.tables import Table
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.blocks import Block, ScoreColumn, published_block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.systems import plots, statistics, tables
from estime_metric.studies.benchmarks.systems.data import Systems

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor


@dataclass(frozen=True)
class SystemsStudy:
    """The study of systems.

    Attributes:
        scorer: computes the measures.
        progress: whether the scorer shows its own bar.
    """

    scorer: EstimeScorer
    progress: bool = False

    def blocks(self, data: Systems) -> list[Block]:
        """ESTIME with the scorer's measures and graded alarms per token, trivial baselines, and the published
        metrics of the data.
        """
        published = {
            ScoreColumn(f"published:{name}", name, statistics.PUBLISHED): data.table[
                name
            ].to_numpy()
            for name in data.published
        }
        derived = {"graded_alarms_per_token": graded_alarms_per_token}
        return [
            estime_block(self.scorer, every_measure=True, derived=derived, progress=self.progress),
            trivial_block(),
            published_block("Published metrics", f"SYSTEMS|{data.digest}", published),
        ]

    def analyze(self, scores: Scores[Systems], *, resamples: int = 1000, seed: int = 0) -> Frames:
        """See `statistics.analyze`."""
        return statistics.analyze(scores, resamples=resamples, seed=seed)

    def tables(self, scores: Scores[Systems], frames: Frames) -> list[Table]:
        """See `tables.make_tables`."""
        return tables.make_tables(scores, frames)

    def draw(
        self, scores: Scores[Systems], frames: Frames, *, seed: int = 0
    ) -> Iterator[tuple[str, Figure]]:
        """See `plots.draw`."""
        return plots.draw(frames)


def graded_alarms_per_token(result: EstimeResult, layer: int) -> Tensor:
    """``graded_alarms / tokens``, 1 for a summary without tokens; float64 of shape (summaries,)."""
    tokens = result.values("tokens", layer)
    return (result.values("graded_alarms", layer) / tokens).where(tokens > 0, 1.0)
