"""Pairs and their scores -> the rows of a table of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from estime_metric.files.lines import Row
from estime_metric.files.pairs import Pairs
from estime_metric.files.values import plain
from estime_metric.measures import reported_name

Number = int | float | None  # ``None`` if a measure is undefined

#: Columns in addition to the measures.
FILE, LINE, FLAG, SOURCE_ID, SIGNATURE = "file", "line", "flag", "source_id", "signature"


def measure_columns(measures: Sequence[str], layers: Sequence[int]) -> list[str]:
    """Names of the columns of measures, layer by layer, see `reported_name`."""
    return [reported_name(name, layer, layers) for layer in layers for name in measures]


def measure_values(columns: Mapping[str, Sequence[float]]) -> dict[str, list[Number]]:
    """The columns of a result (`EstimeResult.columns`) in the format of files."""
    return {name: [plain(value) for value in values] for name, values in columns.items()}


def rows_with(pairs: Pairs, columns: Mapping[str, Sequence[Any]], prefix: str = "") -> list[Row]:
    """One row per pair: its line, its further columns, and the values of ``columns``; the names of
    the added columns begin with ``prefix``.
    """
    return [
        {
            f"{prefix}{LINE}": line,
            **others,
            **{f"{prefix}{name}": values[index] for name, values in columns.items()},
        }
        for index, (line, others) in enumerate(zip(pairs.lines, pairs.others, strict=True))
    ]
