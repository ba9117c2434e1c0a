"""Rows -> Parquet, whatever is in them. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import types
from pyarrow.parquet import ParquetWriter

from estime_metric.files.lines import Row
from estime_metric.files.metadata import KEY, meta_json
from estime_metric.files.values import to_json

_GROUP = 10_000  # rows of a row group, which are in memory together


def write_parquet(
    path: Path, rows: Callable[[], Iterator[Row]], meta: Mapping[str, Any] | None = None
) -> None:
    """Writes rows as Parquet; ``rows`` is called several times: for the types of the columns, then
    for the values.

    A column that has no type of Parquet becomes text: integers of more than 64 bits keep their
    digits, and in a column of texts and other values the others become JSON.

    Raises OSError if the file cannot be written.
    """
    kinds = _column_types(_groups(rows()))
    while (column := _write(path, rows, kinds, meta)) is not None:
        kinds[column] = pyarrow.string()  # its first rows had a type that does not fit a later one


def _write(
    path: Path,
    rows: Callable[[], Iterator[Row]],
    kinds: Mapping[str, Any],
    meta: Mapping[str, Any] | None,
) -> str | None:
    """Writes the rows; gives the name of a column if one of its values does not fit its type."""
    schema = pyarrow.schema(list(kinds.items()))
    if meta:
        schema = schema.with_metadata({KEY: meta_json(meta)})
    with ParquetWriter(path, schema) as writer:
        for group in _groups(rows()):
            arrays = []
            for name, kind in kinds.items():
                values = [row.get(name) for row in group]
                array = _converted(values, kind)
                if array is None:
                    return name
                arrays.append(array)
            writer.write_table(pyarrow.table(arrays, schema=schema))
    return None


def _column_types(groups: Iterator[list[Row]]) -> dict[str, Any]:
    """The type of each column that any row has."""
    kinds: dict[str, Any] = {}
    for group in groups:
        for name in dict.fromkeys(name for row in group for name in row):
            kind = _type_of([row.get(name) for row in group])
            kinds[name] = _common(kinds[name], kind) if name in kinds else kind
    return kinds


def _type_of(values: Sequence[Any]) -> Any:
    array = _converted(values, None)
    return pyarrow.string() if array is None or not _can_be_written(array.type) else array.type


def _common(*kinds: Any) -> Any:
    """The type that can represent the values of all."""
    fields = [pyarrow.schema([("column", kind)]) for kind in kinds]
    try:
        return pyarrow.unify_schemas(fields, promote_options="permissive").field("column").type
    except pyarrow.ArrowException:
        return pyarrow.string()


def _converted(values: Sequence[Any], kind: Any) -> Any:
    """Values as an array of a type, which is found if it is ``None``; ``None`` if they do not fit."""
    if kind is not None and kind == pyarrow.string():
        values = [
            value if value is None or isinstance(value, str) else to_json(value) for value in values
        ]
    try:
        return pyarrow.array(values, kind)
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError):
        return None


def _can_be_written(kind: Any) -> bool:
    """Whether Parquet has the type: it has no object without fields."""
    if types.is_struct(kind) and kind.num_fields == 0:
        return False
    children = [kind.field(index).type for index in range(kind.num_fields)]
    return all(map(_can_be_written, children))


def _groups(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while group := list(islice(rows, _GROUP)):
        yield group
