"""FRANK (Pagnoni et al. 2021): how well measures follow human judgements of factuality; extra
``meta``.
"""

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from experiments.benchmarks.frank import data, statistics, tables

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables, shown=["frank"])
