"""The measures that every benchmark computes, and the options of its command."""

# Annotations are evaluated here, not postponed, because Cyclopts reads them in another module.
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclopts import Parameter

from estime_metric.measures import FURTHER_MEASURES
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from estime_metric.studies.benchmarks.shared.blocks import Block, published_block
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.commands.benchmark.shared import (
    MEASURE,
    OTHERS,
    RUN,
    EveryMeasure,
    OtherMeasures,
    RunOptions,
)


def standard_blocks(
    data: Summaries, scorer: EstimeScorer, *, progress: bool = False
) -> list[Block]:
    """ESTIME with every measure that the scorer computes, trivial baselines, and the scores that come
    with the data. ``progress`` shows the scorer's own bar.
    """
    return [
        estime_block(scorer, every_measure=True, progress=progress),
        *blocks_without_encoder(data),
    ]


def blocks_without_encoder(data: Summaries) -> list[Block]:
    """Trivial baselines and the scores that come with the data."""
    published = [published_block(data)] if len(data.published.columns) else []
    return [trivial_block(), *published]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BenchmarkOptions:
    """What the commands have in common."""

    results: RunOptions = RUN
    others: OtherMeasures = OTHERS
    measure: EveryMeasure = MEASURE

    def run(
        self,
        benchmark: Benchmark,
        folder: Path,
        *,
        measures: Sequence[str] = FURTHER_MEASURES,
        **options: Any,
    ) -> int:
        """Reads a benchmark, computes the measures of `standard_blocks` and runs it; returns the exit
        status.

        Args:
            benchmark: what is run.
            folder, options: of ``Benchmark.read``.
            measures: further measures that are computed.
        """
        self.results.make_folder()
        data = benchmark.read(folder, **options)
        added = self.others.blocks(self.measure.device)
        scorer = EstimeScorer(measures=measures, **self.measure.settings())
        blocks = standard_blocks(data, scorer, progress=not self.results.quiet)
        return self.results.run(benchmark, data, [*blocks, *added])


#: What a command has if none of these options is given.
COMMON = BenchmarkOptions()
