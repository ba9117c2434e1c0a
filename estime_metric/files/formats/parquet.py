"""Parquet, read a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from estime_metric.files.formats.columns import check_unique
from estime_metric.files.formats.parquet_pages import pages
from estime_metric.files.lines import Line
from estime_metric.files.options import DEFAULT_LIMITS, LimitError, ReadLimits, ReadOptions

#: Rows that are decoded together. If the size is limited, only one row: a few bytes of a file can
#: represent many equal rows of any size.
_BATCH, _LIMITED_BATCH = 64, 1
_WIDTH = 16  # bytes of a value that is not text, including levels
_PARTS = 100_000  # parts of the schema, and row groups, that a file with a limited size may have


def read(path: Path, options: ReadOptions) -> Iterator[Line]:
    """The rows of a file, counted from 1.

    Raises:
        LimitError: the file has more rows, bytes or columns than ``options`` allow.
        ValueError: the file is not Parquet, it is damaged, or it names a column twice.
        ImportError: pyarrow is not installed.
        OSError: the file cannot be read.
    """
    batch_size = _BATCH if options.limits.size is None else _LIMITED_BATCH
    with opened_parquet(path, options.limits) as table:
        check_unique(table.schema_arrow.names, path)
        number = 0
        decoded = 0
        for group in range(table.num_row_groups):
            for batch in table.iter_batches(batch_size, row_groups=[group], use_threads=False):
                if options.limits.size is not None:
                    decoded += _decoded_size(batch)
                    _check_size(path, decoded, options.limits.size)
                for index in range(batch.num_rows):
                    number += 1
                    yield _read_line(batch, index, path, number)


def read_key(path: Path, key: bytes) -> bytes | None:
    """An entry of a file's metadata; raises as `read`."""
    with opened_parquet(path) as table:
        value: bytes | None = (table.schema_arrow.metadata or {}).get(key)
        return value


@contextmanager
def opened_parquet(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[Any]:
    """A file as a ``pyarrow.parquet.ParquetFile`` within the limits; raises as `read`."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'estime-metric[files]'.") from error
    parts = _PARTS if limits.size is not None else None
    try:
        with (
            path.open("rb") as stream,
            ParquetFile(stream, thrift_container_size_limit=parts) as table,
        ):
            _check_footer(table.metadata, path, limits)
            if limits.size is None:
                yield table
                return
            _check_pages(table.metadata, stream, path, limits.size)
            names = _nested_texts(table.metadata)
            with ParquetFile(stream, read_dictionary=names, metadata=table.metadata) as limited:
                yield limited
    except (ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise ValueError(
            f"Expected {path.name} to be Parquet, but it cannot be read: {error}."
        ) from error


def _parts(metadata: Any) -> Iterator[tuple[Any, Any]]:
    """The part of each column in each group of rows, with what the schema says of its column."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for index in range(group.num_columns):
            yield group.column(index), metadata.schema.column(index)


def _nested_texts(metadata: Any) -> list[str]:
    """The columns of texts in lists and objects that Arrow can read as dictionaries, in which equal
    texts are one: a single row can have any number of them.
    """
    names = {
        column.path: None
        for column in map(metadata.schema.column, range(metadata.num_columns))
        if column.physical_type == "BYTE_ARRAY"
        and column.logical_type.type in ("STRING", "NONE")
        and "." in column.path
    }
    for part, column in _parts(metadata):
        if any(encoding.startswith("DELTA") for encoding in part.encodings):
            names.pop(column.path, None)
    return list(names)


def _check_footer(metadata: Any, path: Path, limits: ReadLimits) -> None:
    if metadata.num_columns > limits.columns:
        raise LimitError(
            f"Expected {path.name} to have at most {limits.columns:,} columns, but it has "
            f"{metadata.num_columns:,}.",
            "columns",
        )
    if limits.rows is not None and metadata.num_rows > limits.rows:
        raise LimitError(
            f"Expected {path.name} to have at most {limits.rows:,} rows, but it has "
            f"{metadata.num_rows:,}.",
            "rows",
        )
    columns = map(metadata.schema.column, range(metadata.num_columns))
    depth = max((column.path.count(".") for column in columns), default=0)
    if depth > limits.depth:
        raise LimitError(
            f"Expected the columns of {path.name} to be nested at most {limits.depth} levels deep, "
            f"but one is nested {depth} levels deep.",
            "depth",
        )


def _check_pages(metadata: Any, stream: BinaryIO, path: Path, size: int) -> None:
    """Raises an error before a file is decompressed if that needs more than ``size`` bytes."""
    taken = 0
    for part, column in _parts(metadata):
        if "DELTA_BYTE_ARRAY" in part.encodings:  # a few bytes can represent any number
            raise LimitError(
                f"Expected no column of {path.name} to have the encoding DELTA_BYTE_ARRAY, whose "
                f"size cannot be limited, but {column.path!r} has it.",
                "size",
            )
        start = part.data_page_offset
        if part.has_dictionary_page and part.dictionary_page_offset:
            start = min(start, part.dictionary_page_offset)
        width = max(column.length, _WIDTH)
        try:
            for page in pages(stream, start, part.total_compressed_size):
                taken += page.size + page.values * width
                _check_size(path, taken, size)
        except LimitError:
            raise
        except ValueError as error:
            raise ValueError(
                f"Expected {path.name} to be Parquet, but it cannot be read: {error}."
            ) from error


def _check_size(path: Path, taken: int, size: int) -> None:
    if taken > size:
        raise LimitError(
            f"Expected {path.name} to have at most {size:,} bytes when it is decompressed, but it "
            "has more.",
            "size",
        )


def _decoded_size(array: Any) -> int:
    """Bytes of a batch or an array when each value is stored separately, as in its rows."""
    import pyarrow.compute
    from pyarrow import types

    if isinstance(array, pyarrow.RecordBatch):
        return sum(map(_decoded_size, array.columns))
    kind = array.type
    if types.is_dictionary(kind):
        lengths = pyarrow.compute.binary_length(array.dictionary)
        return int(array.nbytes) + int(
            pyarrow.compute.sum(lengths.take(array.indices)).as_py() or 0
        )
    if types.is_struct(kind):
        return sum(map(_decoded_size, array.flatten()))
    if types.is_map(kind):
        return _decoded_size(array.keys) + _decoded_size(array.items)
    if types.is_nested(kind):
        return _decoded_size(array.flatten())
    return int(array.nbytes)


def _read_line(batch: Any, index: int, path: Path, number: int) -> Line:
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            row[name] = column[index].as_py()
        except UnicodeDecodeError:
            return Line(path, number, problem=f"column {name!r} is not UTF-8")
        except (ArithmeticError, ValueError) as error:  # a date that Python does not know
            return Line(path, number, problem=f"column {name!r} cannot be read ({error})")
    return Line(path, number, row)
