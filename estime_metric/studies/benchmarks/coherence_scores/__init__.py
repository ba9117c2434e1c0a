"""The comparison of coherence measures of Steen & Markert 2022, computed again from the scores that
they published; extra ``meta``. No measure is computed here: see
`estime_metric.studies.coherence_measures` for that.
"""

from functools import partial

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
from estime_metric.studies.benchmarks.coherence_scores import plots, statistics, tables
from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores, read
from estime_metric.studies.benchmarks.coherence_scores.published import LABELS
from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, Block, Prepared, ScoreColumn
from estime_metric.studies.benchmarks.shared.running import Benchmark

__all__ = ["benchmark", "published_scores", "read"]


def benchmark(
    runs: int = 100, *, intervals: bool = True, shows_confounders: bool = False
) -> Benchmark:
    """The comparison; ``runs`` are as in `statistics.analyze`, ``intervals`` says whether documents
    and systems are resampled for the intervals of Table 3, and ``shows_confounders`` whether Table 1
    is for the screen, too.
    """
    analyze = partial(statistics.analyze, runs=runs, intervals=intervals)
    shown = ["table3", "table4", *(["table1"] if shows_confounders else [])]
    return Benchmark(analyze, tables.make_tables, plots.draw, shown=shown)


def published_scores(scored: CoherenceScores) -> Block:
    """The published scores as the measures of the comparison."""
    columns = tuple(ScoreColumn(name, LABELS[name], PUBLISHED) for name in scored.published)
    return Block(
        "Published scores",
        columns,
        lambda: Prepared(f"TOOLBOX|{scored.digest}", lambda _: scored.table),
    )
