"""Made tables of scores, results and words for tests of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import torch

from estime_metric import EstimeConfig, EstimeResult
from estime_metric.compare import Comparison, compare_scores
from estime_metric.measures import STATISTICS


def table(length: int = 0, /, **columns: Any) -> pd.DataFrame:
    """Scored rows, each of a source of its own; a column that is not a list has one cell for all."""
    lengths = {len(cells) for cells in columns.values() if isinstance(cells, list)}
    rows = range(max(lengths, default=length))
    own = {"source": [f"source {number:03}" for number in rows], "signature": "ESTIME|made"}
    return pd.DataFrame({**own, **columns}, index=pd.RangeIndex(1, len(rows) + 1, name="line"))


def compared(*systems: pd.DataFrame, **options: Any) -> Comparison:
    """The comparison of systems that are called A, B, C and so on."""
    return compare_scores(dict(zip("ABCDEFG", systems, strict=False)), **options)


def result_of(
    alarms: Sequence[float], sources: Sequence[str] | None = None, **others: Any
) -> EstimeResult:
    """A result with these alarms in summaries of ten tokens, and perhaps other statistics."""
    statistics = torch.zeros(len(alarms), 1, len(STATISTICS), dtype=torch.float64)
    for name, values in {"tokens": 10, "overlap": 10, "alarms": alarms, **others}.items():
        statistics[:, 0, STATISTICS.index(name)] = torch.as_tensor(values, dtype=torch.float64)
    return EstimeResult(statistics, EstimeConfig(model="m", revision="r", layers=5), sources)
