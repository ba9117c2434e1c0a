"""The published coherence scores, from their columns to their plots, for
`estime_metric.studies.benchmarks.shared.study.run`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from estime_metric.report.tables import Table
from estime_metric.studies.benchmarks.coherence_scores import plots, statistics, tables
from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.published import LABELS
from estime_metric.studies.benchmarks.shared.blocks import Block, ScoreColumn, published_block
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class CoherenceScoresStudy:
    """The study of the published coherence scores.

    Attributes:
        runs: over which the confounders with noise are averaged; 0 leaves Table 1 out.
        intervals: whether documents and systems are resampled for the intervals of Table 3.
    """

    runs: int = 100
    intervals: bool = True

    def blocks(self, data: CoherenceScores) -> list[Block]:
        """The published scores."""
        scores = {
            ScoreColumn(name, LABELS[name], "Published"): values
            for name, values in data.scores.items()
        }
        return [published_block("Published scores", f"TOOLBOX|{data.digest}", scores)]

    def analyze(
        self, scores: Scores[CoherenceScores], *, resamples: int = 1000, seed: int = 0
    ) -> Frames:
        """See `statistics.analyze`."""
        return statistics.analyze(
            scores, runs=self.runs, resamples=resamples if self.intervals else 0, seed=seed
        )

    def tables(self, scores: Scores[CoherenceScores], frames: Frames) -> list[Table]:
        """See `tables.make_tables`."""
        return tables.make_tables(frames)

    def draw(
        self, scores: Scores[CoherenceScores], frames: Frames, *, seed: int = 0
    ) -> Iterator[tuple[str, Figure]]:
        """See `plots.draw`."""
        return plots.draw(scores, seed=seed)
