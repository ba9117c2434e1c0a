"""SummEdits (Laban et al. 2023): consistent edits of summaries detected among inconsistent ones, in
ten domains; extra ``meta``.
"""

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from experiments.benchmarks.summedits import data, statistics, tables

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables)
