"""RAGTruth (Niu et al. 2024): errors detected in summaries that language models wrote. Nothing in this
package was chosen on it.
"""

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from experiments.benchmarks.ragtruth import data, statistics, tables

BENCHMARK = Benchmark(data.read, statistics.analyze, tables.make_tables)
