"""FRANK (Pagnoni et al. 2021): how well measures follow human judgements of factuality; extra
``meta``.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
from estime_metric.studies.benchmarks.frank import data, statistics, tables
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables, shown=["frank"])
