"""How often people agree with the verdict of ``estime compare`` on two systems: SummEval, FRANK and
CLIFF; extra ``meta``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from estime_metric.studies.benchmarks.systems import statistics, tables

if TYPE_CHECKING:
    from torch import Tensor

    from estime_metric.result import EstimeResult
    from estime_metric.studies.benchmarks.shared.estime_block import Derived


def graded_alarms_per_token(result: EstimeResult, layer: int) -> Tensor:
    """``graded_alarms / tokens``, 1 for a summary without tokens; float64 of shape (summaries,)."""
    tokens = result.values("tokens", layer)
    return (result.values("graded_alarms", layer) / tokens).where(tokens > 0, 1.0)


#: A measure that is not registered: its name -> how it is computed of a result.
DERIVED: dict[str, Derived] = {"graded_alarms_per_token": graded_alarms_per_token}
BENCHMARK = Benchmark(statistics.analyze, tables.make_tables)
