"""Pairs and their scores -> the rows of a table of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from estime_metric.files.lines import Row
from estime_metric.files.pairs import Pairs
from estime_metric.files.values import plain
from estime_metric.measures import reported_name

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

Number = int | float | None  # ``None`` if a measure is undefined

LINE, FLAG, SIGNATURE = "line", "flag", "signature"  # columns in addition to the measures


def measure_columns(measures: Sequence[str], layers: Sequence[int]) -> list[str]:
    """Names of the columns of measures, layer by layer, see `reported_name`."""
    return [reported_name(name, layer, layers) for layer in layers for name in measures]


def score_columns(measures: Sequence[str], layers: Sequence[int]) -> list[str]:
    """Names of the columns that `score_rows` adds: the line, the measures, the signature."""
    return [LINE, *measure_columns(measures, layers), SIGNATURE]


def measure_values(result: EstimeResult) -> dict[str, list[Number]]:
    """The values of a result by the columns of `measure_columns`, in the format of files."""
    places = [(measure, layer) for layer in result.layers for measure in result.measures]
    names = measure_columns(result.measures, result.layers)
    return {
        name: [plain(value) for value in result.values(measure, layer).tolist()]
        for name, (measure, layer) in zip(names, places, strict=True)
    }


def clash(row: Row, added: Iterable[str]) -> str | None:
    """The first of the ``added`` columns that a row already has; ``None`` if it has none."""
    return next((name for name in added if name in row), None)


def clash_problem(column: str) -> str:
    """What is wrong with a row that has an output column, as the end of a sentence."""
    return (
        f"has a column {column!r}, which is also the name of an output column; rename the output "
        "columns with `prefix`"
    )


def score_rows(
    pairs: Pairs, result: EstimeResult, prefix: str = "", *, with_signature: bool = True
) -> list[Row]:
    """`rows_with` the values and the signature of a result."""
    signature = result.signature if with_signature else None
    return rows_with(measure_values(result), pairs, prefix=prefix, signature=signature)


def rows_with(
    values: Mapping[str, Sequence[Number]],
    pairs: Pairs,
    *,
    prefix: str = "",
    signature: str | None = None,
) -> list[Row]:
    """One row per pair: its line, its further columns, its ``values`` by column, and the signature
    if given.

    The names of the added columns begin with ``prefix``; ValueError if a pair already has a column
    with one of these names.
    """
    rows = []
    for index, (line, others) in enumerate(zip(pairs.lines, pairs.others, strict=True)):
        added: Row = {f"{prefix}{LINE}": line}
        added |= {f"{prefix}{name}": column[index] for name, column in values.items()}
        if signature is not None:
            added[f"{prefix}{SIGNATURE}"] = signature
        twice = clash(others, added)
        if twice is not None:
            raise ValueError(f"line {line} {clash_problem(twice)}.")
        rows.append({f"{prefix}{LINE}": line, **others, **added})
    return rows
