"""AggreFact (Tang et al. 2023): inconsistent summaries detected, and the words that annotators
marked in them; extra ``meta``.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
from estime_metric.studies.benchmarks.aggrefact import data, statistics, tables
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables, shown=["aggrefact"])
