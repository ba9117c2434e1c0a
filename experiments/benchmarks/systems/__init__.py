"""How often people agree with the verdict of ``estime compare`` on two systems: SummEval, FRANK and
CLIFF; extra ``meta``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from experiments.benchmarks.systems import data, statistics, tables

if TYPE_CHECKING:
    from torch import Tensor

    from estime_metric.result import EstimeResult


def graded_alarms_per_token(result: EstimeResult, layer: int) -> Tensor:
    """``graded_alarms / tokens``, 1 for a summary without tokens; float64 of shape (summaries,)."""
    tokens = result.values("tokens", layer)
    return (result.values("graded_alarms", layer) / tokens).where(tokens > 0, 1.0)


BENCHMARK = Benchmark(
    data.read,
    statistics.analyze,
    tables.make_tables,
    shown=["systems", "systems-order", "systems-rules"],
    derived={"graded_alarms_per_token": graded_alarms_per_token},
)
