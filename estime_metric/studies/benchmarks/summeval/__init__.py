"""SummEval (Fabbri et al. 2021): Tables 1 and 2 of the ESTIME paper, computed again; extra
``meta``.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
from estime_metric.studies.benchmarks.shared.running import Benchmark
from estime_metric.studies.benchmarks.summeval import plots, statistics, tables
from estime_metric.studies.benchmarks.summeval.data import read

__all__ = ["BENCHMARK", "read"]

BENCHMARK = Benchmark(
    statistics.analyze,
    tables.make_tables,
    plots.draw,
    shown=["table1", "table2", "differences", "layers"],
)
