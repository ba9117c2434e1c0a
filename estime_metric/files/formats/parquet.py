"""Parquet, read a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from estime_metric._extras import needs_extra
from estime_metric.files.layout import Layout
from estime_metric.files.lines import Line, check_unique

_BATCH = 64  # rows that are decoded together


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
                yield _read_line(batch, index, path, next(numbers))


def read_key(path: Path, key: bytes) -> bytes | None:
    """An entry of a file's metadata; raises as `read`."""
    with opened_parquet(path) as table:
        value: bytes | None = (table.schema_arrow.metadata or {}).get(key)
        return value


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """A file as a ``pyarrow.parquet.ParquetFile``; raises as `read`."""
    with needs_extra("files", "Parquet needs pyarrow"):
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    path.stat()  # raises what opening any other missing file raises
    try:
        with ParquetFile(path) as table:
            yield table
    except (ArrowException, OSError, UnicodeDecodeError) as error:  # the last: of a name
        if isinstance(error, OSError) and error.errno:
            raise
        raise ValueError(
            f"Expected {path.name} to be Parquet, but it cannot be read: {error}."
        ) from error


def _read_line(batch: Any, index: int, path: Path, number: int) -> Line:
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            row[name] = column[index].as_py()
        except (ArithmeticError, ValueError) as error:  # not UTF-8, or a date Python does not know
            return Line(path, number, problem=f"column {name!r} cannot be read ({error})")
    return Line(path, number, row)
