"""SummEdits (Laban et al. 2023): consistent edits of summaries detected among inconsistent ones, in
ten domains; extra ``meta``.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from estime_metric.studies.benchmarks.summedits import data, statistics, tables

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables)
