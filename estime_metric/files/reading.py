"""Rows of a table, one after the other and never all in memory; the format follows from the ending
of the name.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

READABLE = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
WRITABLE = (".jsonl", ".csv", ".parquet")
COMPRESSED = (".gz", ".zst")

KEY = b"estime"  # in the metadata of Parquet; beside JSON Lines and CSV stands a file ``NAME.meta.json``
Row = dict[str, Any]
Numbered = tuple[
    int, Row | str
]  # a row with its line number, or a string that says what is wrong with it
_BLOCK = 1 << 16  # characters of a JSON array that are read at once


def is_standard(path: Path) -> bool:
    """Whether a path means standard input or output: ``-``, ``/dev/stdin``, ``/dev/stdout``."""
    return str(path) in ("-", "/dev/stdin", "/dev/stdout")


def readable_format(path: Path) -> str:
    """The ending that says how ``path`` is read, without that of the compression; ValueError for
    any other.
    """
    if is_standard(path):
        return ".jsonl"
    *_, inner, ending = ["", "", *(suffix.lower() for suffix in path.suffixes)]
    compressed = ending in COMPRESSED
    ending = inner if compressed else ending
    ending = ".jsonl" if ending == ".ndjson" else ending
    if ending not in READABLE or (compressed and ending == ".parquet"):
        endings = (
            f"{', '.join(READABLE)}, or in these and {' or '.join(COMPRESSED)} (but for Parquet)"
        )
        raise ValueError(f"Expected a file that ends in {endings}, but got {path.name!r}.")
    return ending


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file or of standard input, decompressed; errors as `read_rows`."""
    if is_standard(path):
        yield sys.stdin.buffer
        return
    ending = path.suffix.lower()
    with path.open("rb") as raw:
        stream = io.BufferedReader(cast(Any, _decompressed(raw, ending)))
        try:
            start = stream.peek(4)[:4]
            if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start:
                raise ValueError(
                    f"Expected {path.name} to be UTF-8, but it looks like UTF-16: convert it first."
                )
            yield cast(BinaryIO, stream)
        except (EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and (error.errno or ending != ".zst"):
                raise
            said = f"whole, but its compressed data end early ({error})"
            if isinstance(error, OSError) and "Truncated" not in str(error):
                said = f"zstd data, but got: {error}"
            raise ValueError(f"Expected {path.name} to be {said}.") from error


def _decompressed(raw: BinaryIO, ending: str) -> Any:
    if ending != ".zst":
        return gzip.GzipFile(fileobj=raw) if ending == ".gz" else raw
    try:
        import pyarrow  # the reader of zstandard itself takes a cut file for a whole one
    except ImportError as error:
        raise ImportError(
            "Files in .zst need pyarrow: pip install 'estime-metric[files]'."
        ) from error
    return pyarrow.CompressedInputStream(raw, "zstd")


def read_rows(path: Path) -> Iterator[Numbered]:
    """Line numbers, from 1, with rows; a string in place of a row says what is wrong with it.

    The file ends in one of ``READABLE``, all but Parquet also with ``.gz`` or ``.zst`` behind;
    ``-`` is JSON Lines on standard input. A row of several lines goes by the first of them; rows of
    Parquet and JSON arrays are counted.

    Raises:
        ValueError: another ending, UTF-16, a column twice in the header, or damaged compressed
            data.
        ImportError: Parquet or ``.zst`` without pyarrow.
        OSError: it cannot be read.
    """
    ending = readable_format(path)
    return _parquet_rows(path) if ending == ".parquet" else _text_rows(path, ending)


def _text_rows(path: Path, ending: str) -> Iterator[Numbered]:
    with _opened(path) as stream:
        if ending == ".jsonl":
            yield from _jsonl_rows(stream)
        elif ending == ".json":
            with io.TextIOWrapper(stream, "utf-8-sig") as text:
                yield from _json_rows(text, path.name)
        else:
            with io.TextIOWrapper(
                stream, "utf-8-sig", newline="", errors="surrogateescape"
            ) as text:
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
    decode = json.JSONDecoder().raw_decode
    held = text.read(_BLOCK).lstrip()
    if not held.startswith("["):
        raise ValueError(
            f"Expected {name} to hold a JSON array of objects; for an object on each line say .jsonl."
        )
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
        if end == len(held):  # unfinished, or it may continue in the next block
            block = text.read(max(_BLOCK, len(held)))
            if not block:
                raise ValueError(
                    f"Expected {name} to be a JSON array, but row {number + 1} is not JSON: {problem}."
                )
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
        # The index that pandas writes has no name; pandas reads it back under this one.
        columns = [cell or f"Unnamed: {index}" for index, cell in enumerate(header)]
        if twice := sorted({column for column in columns if columns.count(column) > 1}):
            raise ValueError(
                f"Expected each column of {name} once, but the header has {twice[0]!r} twice."
            )
        first = reader.line_num + 1
        for cells in reader:
            if len(cells) > len(columns):
                yield first, f"has more than the {len(columns)} columns of the header"
            elif any(
                not cell.isascii() and any("\udc80" <= char <= "\udcff" for char in cell)
                for cell in cells
            ):
                yield first, "is not UTF-8"
            elif cells:
                yield first, dict(zip_longest(columns, cells))
            first = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"Expected {name} to be CSV, but line {reader.line_num} is not: {error}."
        ) from error


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """A Parquet file, as a ``pyarrow.parquet.ParquetFile``; ValueError where it is none, or
    damaged.
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
        raise ValueError(
            f"Expected {path.name} to be Parquet, but it cannot be read: {error}."
        ) from error


def _parquet_rows(path: Path) -> Iterator[Numbered]:
    with open_parquet(path) as table:
        batches = table.iter_batches(batch_size=1024)
        yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)


def meta_path(path: Path) -> Path:
    """The file beside a table of JSON Lines or CSV."""
    return path.with_name(f"{path.name}.meta.json")


def read_meta(path: str | Path) -> dict[str, Any]:
    """The metadata of a table of scores: signature, options, versions, date, totals; empty if it
    has none.

    Raises ValueError where it is damaged, OSError or ImportError where it cannot be read.
    """
    path = Path(path)
    if path.suffix.lower() == ".parquet":
        with open_parquet(path) as table:
            text = (table.schema_arrow.metadata or {}).get(KEY, b"{}")
    else:
        plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
        beside = next(
            (
                one
                for one in map(meta_path, (path, plain))
                if not is_standard(path) and one.exists()
            ),
            None,
        )
        text = beside.read_bytes() if beside else b"{}"
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"Expected the metadata of {path.name} to be JSON, but got: {error}."
        ) from error
    return found if isinstance(found, dict) else {}


def read_scored(path: str | Path) -> Iterator[Numbered]:
    """The rows of a table as `read_rows` gives them, each with the column ``signature`` where one
    is known.
    """
    signature = read_meta(path).get("signature")
    for line, row in read_rows(Path(path)):
        if signature and isinstance(row, dict):
            row.setdefault("signature", signature)
        yield line, row


def read_signature(path: str | Path) -> str | None:
    """The signature of the scores in a table, wherever it stands; ``None`` where it has none.
    Errors as `read_rows`.
    """
    stated = read_meta(path).get("signature")
    if stated is None:
        first = next((row for _, row in read_rows(Path(path)) if isinstance(row, dict)), {})
        stated = first.get("signature")
    return None if stated is None else str(stated)
