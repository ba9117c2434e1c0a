"""The measures that every benchmark computes, and the options of its command."""

# Annotations are evaluated here, not postponed, because Cyclopts reads them in another module.
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclopts import Parameter

from estime_metric.cli.console import say_wrote
from estime_metric.explanation import Explanation
from estime_metric.measures import FURTHER_MEASURES
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from estime_metric.studies.benchmarks.shared.blocks import (
    PUBLISHED,
    Block,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import Data, Summaries
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.commands.benchmark.shared import (
    MEASURE,
    OTHERS,
    RUN,
    EveryMeasure,
    OtherMeasures,
    RunOptions,
    print_tables,
)
from estime_metric.studies.tables import Table, write_table


def blocks_without_encoder(data: Summaries) -> list[Block]:
    """Trivial baselines and the scores that come with the data."""
    published = [published_block(data)] if len(data.published.columns) else []
    return [trivial_block(), *published]


def published_block(data: Summaries) -> Block:
    """The scores that come with the data."""
    columns = {name: ScoreColumn(f"published:{name}", name, PUBLISHED) for name in data.published}
    values = {column.name: data.published[name].to_numpy() for name, column in columns.items()}
    prepared = Prepared(f"{data.origin}|{data.digest}", lambda *_: values)
    return Block(PUBLISHED, tuple(columns.values()), lambda: prepared)


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
        """Reads a benchmark, computes ESTIME with every measure of the scorer and
        `blocks_without_encoder`, and runs it; returns the exit status.

        Args:
            benchmark: what is run.
            folder, options: of ``Benchmark.read``.
            measures: further measures that are computed.
        """
        self.results.make_folder()
        data = benchmark.read(folder, **options)
        added = self.others.blocks(self.measure.device)
        scorer = EstimeScorer(measures=measures, **self.measure.settings())
        estime = estime_block(scorer, every_measure=True, progress=not self.results.quiet)
        return self.results.run(benchmark, data, [estime, *blocks_without_encoder(data), *added])

    def explain(
        self, data: Data, make_tables: Callable[[Data, list[Explanation]], list[Table]]
    ) -> int:
        """Explains all summaries and prints and writes what ``make_tables`` makes of that; returns the
        exit status.
        """
        results = self.results
        results.make_folder()
        scorer = EstimeScorer(**self.measure.settings())
        explanations = scorer.explain_pairs(
            data.summaries, data.sources, progress=not results.quiet
        )
        tables = make_tables(data, explanations)
        print_tables(tables)
        if results.output is not None:
            paths = [path for table in tables for path in write_table(table, results.output)]
            say_wrote(", ".join(path.name for path in paths), results.output)
        return 0


#: What a command has if none of these options is given.
COMMON = BenchmarkOptions()
