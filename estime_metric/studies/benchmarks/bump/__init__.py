"""BUMP (Ma et al. 2023): do measures prefer a summary to the same summary with one error? Extra
``meta``.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
from estime_metric.studies.benchmarks.bump import data, statistics, tables
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables)
