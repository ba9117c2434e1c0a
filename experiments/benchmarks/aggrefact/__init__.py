"""AggreFact (Tang et al. 2023): inconsistent summaries detected, and the words that annotators
marked in them; extra ``meta``.
"""

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from experiments.benchmarks.aggrefact import data, statistics, tables

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables, shown=["aggrefact"])
