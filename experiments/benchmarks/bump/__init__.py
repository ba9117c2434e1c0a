"""BUMP (Ma et al. 2023): do measures prefer a summary to the same summary with one error? Extra
``meta``.
"""

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from experiments.benchmarks.bump import data, statistics, tables

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables)
