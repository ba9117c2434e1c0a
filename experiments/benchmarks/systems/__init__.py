"""How often a significant difference between two systems has the order of people's judgements, by how
much more one of them copies: SummEval, FRANK, RAGTruth.
"""

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from experiments.benchmarks.systems import data, statistics, tables

BENCHMARK = Benchmark(
    data.read, statistics.analyze, tables.make_tables, shown=["systems", "systems-order"]
)
