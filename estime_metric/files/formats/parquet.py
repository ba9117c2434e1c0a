"""Parquet, read a few rows at a time, and written whatever is in the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

from estime_metric._extras import needs_extra
from estime_metric.files.layout import Layout
from estime_metric.files.lines import Line, Row, check_unique
from estime_metric.files.values import encodable, to_json

_BATCH = 64  # rows that are decoded together
_GROUP = 10_000  # rows of a row group, which are in memory together when they are written


def import_pyarrow() -> Any:
    """The package ``pyarrow`` with its module for Parquet; ImportError if it is not installed."""
    with needs_extra("files", "Parquet needs pyarrow"):
        import pyarrow.parquet
    return pyarrow


def read(path: Path, _layout: Layout) -> Iterator[Line]:
    """The rows of a file, counted from 1.

    Raises:
        ValueError: the file is not Parquet, it is damaged, or it names a column twice.
        ImportError: pyarrow is not installed.
        OSError: the file cannot be read.
    """
    with opened_parquet(path) as table:
        check_unique(table.schema_arrow.names, path)
        numbers = count(1)
        for batch in table.iter_batches(_BATCH, use_threads=False):
            for index in range(batch.num_rows):
                number = next(numbers)
                row, problem = _read_row(batch, index)
                yield Line(path, number, row, problem, number / table.metadata.num_rows)


def read_key(path: Path, key: bytes) -> bytes | None:
    """An entry of a file's metadata; raises as `read`."""
    with opened_parquet(path) as table:
        value: bytes | None = (table.schema_arrow.metadata or {}).get(key)
        return value


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """A file as a ``pyarrow.parquet.ParquetFile``; raises as `read`."""
    pyarrow = import_pyarrow()
    path.stat()  # raises what opening any other missing file raises
    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            yield table
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:  # the last: of a name
        if isinstance(error, OSError) and error.errno:
            raise
        raise ValueError(
            f"Expected {path.name} to be Parquet, but it cannot be read: {str(error).rstrip('.')}."
        ) from error


def _read_row(batch: Any, index: int) -> tuple[Row, str]:
    """A row, or what is wrong with it."""
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            row[name] = column[index].as_py()
        except (ArithmeticError, ValueError) as error:  # not UTF-8, or a date Python does not know
            return {}, f"column {name!r} cannot be read ({error})"
    return row, ""


def write(path: Path, rows: Callable[[], Iterator[Row]], metadata: Mapping[bytes, bytes]) -> None:
    r"""Writes rows and the entries of the file's metadata; ``rows`` is called twice: for the types
    of the columns, then for the values.

    A column with values of several types becomes text, except that integers become floats if there
    are floats. So does a column with integers of more than 64 bits. In text, all values except
    texts are JSON. A lone surrogate, which has no UTF-8, becomes ``\ud800``.

    Raises OSError if the file cannot be written.
    """
    pyarrow = import_pyarrow()
    kinds: dict[str, list[Any]] = {}  # of each column, the types that can represent all values
    for group in _groups(rows()):
        for name in dict.fromkeys(name for row in group for name in row):
            fitting = _fitting_types(pyarrow, [row.get(name) for row in group])
            if kinds.get(name, [pyarrow.null()]) == [pyarrow.null()]:
                kinds[name] = fitting
            elif fitting != [pyarrow.null()]:
                kinds[name] = [kind for kind in kinds[name] if kind in fitting]
    fields = {name: (fitting or [pyarrow.string()])[0] for name, fitting in kinds.items()}
    columns = [(encodable(name), kind) for name, kind in fields.items()]
    schema = pyarrow.schema(columns, metadata=dict(metadata))
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for group in _groups(rows()):
            arrays = [
                _array(pyarrow, [row.get(name) for row in group], kind)
                for name, kind in fields.items()
            ]
            writer.write_table(pyarrow.table(arrays, schema=schema))


def _groups(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while group := list(islice(rows, _GROUP)):
        yield group


def _fitting_types(pyarrow: Any, values: Sequence[Any]) -> list[Any]:
    """The types that can represent values, the best one first; none if only text can."""
    kind = _type_of(pyarrow, values, None)
    if kind is None or not _can_be_written(pyarrow, kind):
        return []
    if kind == pyarrow.int64() and _type_of(pyarrow, values, pyarrow.float64()) is not None:
        return [kind, pyarrow.float64()]
    return [kind]


def _type_of(pyarrow: Any, values: Sequence[Any], kind: Any) -> Any:
    """The type of an array of values, of a given ``kind`` if there is one; ``None`` if they make
    none: a float, for example, would round a large integer.
    """
    try:
        return pyarrow.array(values, kind).type
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError):
        return None


def _can_be_written(pyarrow: Any, kind: Any) -> bool:
    """Whether Parquet has a type: it has no object without fields."""
    if pyarrow.types.is_struct(kind) and kind.num_fields == 0:
        return False
    children = [kind.field(index).type for index in range(kind.num_fields)]
    return all(_can_be_written(pyarrow, child) for child in children)


def _array(pyarrow: Any, values: Sequence[Any], kind: Any) -> Any:
    if kind == pyarrow.string():
        values = [
            None
            if value is None
            else encodable(value if isinstance(value, str) else to_json(value))
            for value in values
        ]
    return pyarrow.array(values, kind)
