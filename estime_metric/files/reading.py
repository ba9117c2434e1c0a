"""Rows of a table, one after the other and never all in memory."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from estime_metric.files.formats import opened, readable_format

Row = dict[str, Any]

#: A row's line number with the row, or with a string that says what is wrong with it.
Numbered = tuple[int, Row | str]

#: Name of a column that has none, such as the index that pandas writes; pandas reads it back under this name.
_UNNAMED = "Unnamed: {index}"

#: Characters of a JSON array that are read at once.
_BLOCK = 1 << 16


def read_rows(path: Path) -> Iterator[Numbered]:
    """Line numbers, from 1, with rows; a string in place of a row says what is wrong with it.

    A row of several lines goes by the first of them. Rows of Parquet and of a JSON array are counted instead.

    Args:
        path: a file that ends in one of ``READABLE``, all but Parquet also with ``.gz`` or ``.zst`` behind; ``-`` is
            JSON Lines on standard input.

    Raises:
        ValueError: another ending, UTF-16, a column twice in the header, or damaged compressed data.
        ImportError: Parquet without pyarrow, ``.zst`` without zstandard.
        OSError: it cannot be read.
    """
    ending = readable_format(path)
    if ending == ".parquet":
        return _parquet_rows(path)
    return _text_rows(path, ending)


def _text_rows(path: Path, ending: str) -> Iterator[Numbered]:
    with opened(path) as stream:
        if ending == ".jsonl":
            yield from _jsonl_rows(stream)
        elif ending == ".json":
            with io.TextIOWrapper(stream, "utf-8-sig") as text:
                yield from _json_rows(text, path.name)
        else:
            with io.TextIOWrapper(stream, "utf-8-sig", newline="", errors="surrogateescape") as text:
                yield from _csv_rows(text, path.name, "\t" if ending == ".tsv" else ",")


def _jsonl_rows(stream: BinaryIO) -> Iterator[Numbered]:
    for number, raw in enumerate(stream, start=1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            if not line.strip():
                continue
            row = json.loads(line)
        except UnicodeDecodeError:
            yield number, "is not UTF-8"
        except json.JSONDecodeError as error:
            yield number, f"is not JSON ({error.msg} at column {error.colno})"
        except RecursionError:
            yield number, "is nested too deeply"
        else:
            yield number, _object(row)


def _json_rows(text: TextIO, name: str) -> Iterator[Numbered]:
    """The objects of one JSON array, decoded one by one."""
    decode = json.JSONDecoder().raw_decode
    held = text.read(_BLOCK).lstrip()
    if not held.startswith("["):
        raise ValueError(f"Expected {name} to hold a JSON array of objects; for an object on each line say .jsonl.")
    held, number = held[1:], 0
    while True:
        held = held.lstrip()
        if number:
            held = held.removeprefix(",").lstrip()
        if held.startswith("]"):
            return
        row, end, problem = None, len(held), "it ends early"
        try:
            row, end = decode(held)
        except json.JSONDecodeError as error:
            problem = error.msg
        if end == len(held):  # unfinished, or it may go on in what is not read yet
            block = text.read(max(_BLOCK, len(held)))
            if not block:
                raise ValueError(f"Expected {name} to be a JSON array, but row {number + 1} is not JSON: {problem}.")
            held += block
            continue
        number += 1
        held = held[end:]
        yield number, _object(row)


def _object(row: Any) -> Row | str:
    return row if isinstance(row, dict) else f"holds a {type(row).__name__}, not a JSON object"


def _csv_rows(text: TextIO, name: str, delimiter: str) -> Iterator[Numbered]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(text, delimiter=delimiter)
    try:
        header = next((cells for cells in reader if cells), [])
        columns = [cell or _UNNAMED.format(index=index) for index, cell in enumerate(header)]
        twice = sorted({column for column in columns if columns.count(column) > 1})
        if twice:
            raise ValueError(f"Expected each column of {name} once, but the header has {twice[0]!r} twice.")
        while True:
            first = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                return
            if not cells:
                continue
            if len(cells) > len(columns):
                yield first, f"has more than the {len(columns)} columns of the header"
            elif any(_undecodable(cell) for cell in cells):
                yield first, "is not UTF-8"
            else:
                padding = [None] * (len(columns) - len(cells))
                yield first, dict(zip(columns, [*cells, *padding], strict=True))
    except csv.Error as error:
        raise ValueError(f"Expected {name} to be CSV, but line {reader.line_num} is not: {error}.") from error


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """A Parquet file, as a ``pyarrow.parquet.ParquetFile``.

    Raises:
        ValueError: it is no Parquet, or damaged.
        ImportError: pyarrow is not installed.
        OSError: it cannot be read.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'estime-metric[files]'.") from error
    try:
        with path.open("rb") as stream, ParquetFile(stream) as table:
            yield table
    except (ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise ValueError(f"Expected {path.name} to be Parquet, but it cannot be read: {error}.") from error


def _parquet_rows(path: Path) -> Iterator[Numbered]:
    number = 0
    with open_parquet(path) as table:
        for batch in table.iter_batches(batch_size=1024):
            for row in batch.to_pylist():
                number += 1
                yield number, row


def _undecodable(cell: str) -> bool:
    return not cell.isascii() and any("\udc80" <= char <= "\udcff" for char in cell)
