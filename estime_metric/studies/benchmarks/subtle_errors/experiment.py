"""The experiment of section 4 with one scorer (Vasilyev & Bohannon 2021)."""

from __future__ import annotations

from collections.abc import Mapping

from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import (
    divergence_block,
    rouge_block,
    trivial_block,
)
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.subtle_errors import data, statistics, tables

BENCHMARK = Benchmark(data.make_versions, statistics.analyze, tables.make_tables)


def measure_blocks(
    scorers: Mapping[str, EstimeScorer], *, baselines: bool = True, progress: bool = False
) -> list[Block]:
    """ESTIME in each setting (``""`` is the first) with every measure that its scorer computes; then,
    with ``baselines``, measures that need no model: Jensen-Shannon, trivial baselines, and ROUGE
    against the source.
    """
    return [
        *(
            estime_block(scorer, every_measure=True, setting=setting, progress=progress)
            for setting, scorer in scorers.items()
        ),
        *([divergence_block(), trivial_block(), rouge_block(None)] if baselines else []),
    ]
