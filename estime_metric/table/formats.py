"""The formats of tables: a class each, with its reader and its writer.

A reader yields the lines of a file one after the other; all except that of a JSON array never have the whole
file in memory. To add a format, write a class and add it to `WRITABLE`, or to `FORMATS` if it is only read.
"""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import math
import os
import sys
import zlib
from base64 import b64encode
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

from estime_metric.table.output import (
    GZIP,
    PARQUET,
    STANDARD,
    import_pyarrow,
    is_standard,
    record_path,
    record_paths,
    replaced,
)

MAX_CELL = 10_000_000  # characters of a cell: no more are read if a quotation mark is not closed

_MARK = "\ufeff"  # which files that were appended to one another have in the middle
_DEPTH = 45  # objects and arrays inside one another that a row may have, with which no format has trouble
_BATCH_ROWS = 16  # of Parquet that are decoded together
_GROUP_ROWS, _GROUP_BYTES = 10_000, 8_000_000  # of a row group of Parquet, which is in memory
_BUFFER = 65_536  # bytes of Parquet that are read together
_DELIMITERS = (";", "\t", "|", ",")  # that a header may have instead of the expected one
_KEY = b"estime"  # of the record in the metadata of Parquet

#: A row of a table: the names of its columns and their values.
Row = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """One line of a table.

    Attributes:
        path: the file.
        number: the number of the line, from 1. All formats count alike: the header of CSV is not
            counted, and a row of CSV that extends over several lines counts once.
        row: the row; empty if there is a problem.
        problem: what is wrong with the line, as the end of the sentence "line 3 ..."; empty if
            nothing is.
        size: about how many bytes the whole row has.
        share: about which share of the file has been read with this line; 0 if its size is not
            known.
    """

    path: Path
    number: int
    row: Row = field(default_factory=dict)
    problem: str = ""
    size: int = 0
    share: float = 0.0

    @property
    def sentence(self) -> str:
        """What is wrong with the line, with its number."""
        return f"line {self.number}: {self.problem}"


class Format:
    """How rows are stored in a file, and the record next to it."""

    def read(self, path: Path) -> Iterator[Line]:
        """The lines of a file. Errors as of `read_rows`."""
        raise NotImplementedError

    def record(self, path: Path) -> bytes | None:
        """The JSON of the record of a file, if it has one."""
        stored = next(filter(Path.exists, record_paths(path)), None)
        return None if stored is None else stored.read_bytes()

    def write_rows(self, path: Path, rows: Iterable[Row]) -> None:
        """Writes rows, which can be iterated over several times."""
        raise NotImplementedError

    def write(self, path: Path, rows: Iterable[Row], record: bytes) -> None:
        """Writes a file in one step, and its record, JSON, if it is not empty. An earlier record goes
        first, so that new rows are never read with the record of old ones.
        """
        with replaced(path) as unfinished:
            self.write_rows(unfinished, rows)
            record_path(path).unlink(missing_ok=True)
        if record:
            with replaced(record_path(path)) as unfinished:
                unfinished.write_bytes(record + b"\n")


class JsonLines(Format):
    """One JSON object per line."""

    def read(self, path: Path) -> Iterator[Line]:
        """The lines of JSON Lines; blank ones are counted and skipped."""
        with opened_text(path) as text:
            for number, line in enumerate(text, start=1):
                if line.removeprefix(_MARK).strip():
                    row, problem = parsed(line)
                    yield Line(path, number, row, problem, bytes_of(line), text.share)

    def write_rows(self, path: Path, rows: Iterable[Row]) -> None:  # noqa: D102 - as of `Format`
        with path.open("wb") as stream:
            stream.writelines(encode_json_lines([row]) for row in rows)


class JsonArray(Format):
    """An array of JSON objects, which is only read."""

    def read(self, path: Path) -> Iterator[Line]:
        """The objects of an array, counted from 1. The whole file is read into memory."""
        with opened_text(path) as text:
            content = text.read()
        values, problem = _parse(content)
        if not isinstance(values, list):
            raise ValueError(
                f"Expected {path.name} to be a JSON array of objects, but it {problem or 'is not an array'}. "
                "If it has one object per line, name it .jsonl."
            )
        size = bytes_of(content) // max(len(values), 1)
        for number, value in enumerate(values, start=1):
            row, problem = _checked(value)
            yield Line(path, number, row, problem, size, number / len(values))


class Delimited(Format):
    """CSV.

    Args:
        delimiter: between the cells.
    """

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter

    def read(self, path: Path) -> Iterator[Line]:
        """The rows below the header of CSV. A row with fewer cells than the header lacks the last columns.

        Raises ValueError if the header names a column twice, is not UTF-8, or seems to have another
        delimiter; a cell is too long; a quotation mark is not closed or is followed by further text.
        """
        # The limit belongs to the process: lowering it again would break other threads.
        csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
        with opened_text(path, newline="") as text:
            # Without `strict`, a quotation mark that is not closed joins rows, and nothing says so.
            reader = csv.reader(text, delimiter=self._delimiter, strict=True)
            begins = 1  # the line of the file on which the row begins that is read next
            try:
                columns = _header(next(filter(None, reader), []), path)
                begins = reader.line_num + 1
                for number, cells in enumerate(reader, start=1):
                    problem = _cells_problem(cells, columns, begins)
                    begins = reader.line_num + 1
                    if cells:
                        row = {} if problem else dict(zip(columns, cells, strict=False))
                        yield Line(path, number, row, problem, bytes_of(*cells), text.share)
            except csv.Error as error:
                reason = f"is not: {error}. Is a quotation mark not closed?"
                if "field limit" in str(error):
                    reason = (
                        f"has a cell of more than {MAX_CELL:,} characters. Pass JSON Lines, unless a quotation "
                        "mark that is not closed has joined rows."
                    )
                raise ValueError(
                    f"Expected {path.name} to be CSV, but the row that begins on line {begins} of the "
                    f"file {reason}"
                ) from error

    def write_rows(self, path: Path, rows: Iterable[Row]) -> None:  # noqa: D102 - as of `Format`
        columns = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            # `csv` quotes a cell with a carriage return only if the line terminator has one, too.
            lines = SimpleNamespace(write=lambda row: stream.write(row.removesuffix("\r\n") + "\n"))
            writer = csv.writer(lines, lineterminator="\r\n")
            writer.writerow(columns)
            writer.writerows([_to_cell(row.get(name)) for name in columns] for row in rows)


class Parquet(Format):
    """Parquet, which contains its record."""

    def read(self, path: Path) -> Iterator[Line]:
        """The rows of Parquet, counted from 1."""
        with opened_parquet(path) as table:
            _check_unique(table.schema_arrow.names, path)
            slices = (
                batch.slice(index, 1)
                for batch in table.iter_batches(_BATCH_ROWS, use_threads=False)
                for index in range(batch.num_rows)
            )
            for number, one_row in enumerate(slices, start=1):
                row, problem = _python_row(one_row)
                share = number / table.metadata.num_rows
                yield Line(path, number, row, problem, one_row.nbytes, share)

    def record(self, path: Path) -> bytes | None:  # noqa: D102 - as of `Format`
        with opened_parquet(path) as table:
            text: bytes | None = (table.schema_arrow.metadata or {}).get(_KEY)
            return text

    def write(self, path: Path, rows: Iterable[Row], record: bytes) -> None:
        r"""Writes a file with its record in the metadata. The rows are read twice: for the types of
        the columns, then for the values.

        A column has the type that pyarrow infers from its values; integers next to floats become floats. A
        column of several types is text, and so is one without a type, such as that of larger integers. In
        text, all values except texts are JSON. A lone surrogate, which has no UTF-8, becomes ``\ud800``.
        """
        pyarrow = import_pyarrow()
        types = _column_types(pyarrow, rows)
        columns = [(encodable(name), kind) for name, kind in types.items()]
        schema = pyarrow.schema(columns, metadata={_KEY: record} if record else None)
        with (
            replaced(path) as unfinished,
            unfinished.open("wb") as stream,
            pyarrow.parquet.ParquetWriter(stream, schema) as writer,
        ):
            for group in _groups(rows):
                arrays = [
                    _array(pyarrow, [row.get(name) for row in group], kind)
                    for name, kind in types.items()
                ]
                writer.write_table(pyarrow.table(arrays, schema=schema))
                del arrays, group  # before the next one is made


#: The ending of a file's name -> its format: those that are read and written, and all.
WRITABLE: dict[str, Format] = {STANDARD: JsonLines(), ".csv": Delimited(","), PARQUET: Parquet()}
FORMATS: dict[str, Format] = {
    **WRITABLE,
    ".ndjson": JsonLines(),
    ".json": JsonArray(),
    ".tsv": Delimited("\t"),
}


def format_of(path: Path) -> Format | None:
    """The format of a file, by its name, or of standard input; ``None`` if it is none of them."""
    if is_standard(path):
        return FORMATS[STANDARD]
    name = path.name.lower()
    is_plain = name.endswith(f"{PARQUET}{GZIP}")  # Parquet compresses itself
    return FORMATS.get(Path(name if is_plain else name.removesuffix(GZIP)).suffix)


class OpenedText(io.TextIOWrapper):
    """A text that is being read.

    Attributes:
        file: the file, which may be compressed.
        size: its bytes; 0 if they are not known, as with standard input and pipes.
    """

    file: BinaryIO
    size = 0

    @property
    def share(self) -> float:
        """About which share of the file has been read; 0 if its size is not known."""
        return self.file.tell() / self.size if self.size else 0.0


@contextmanager
def opened_text(path: Path, newline: str = "\n") -> Iterator[OpenedText]:
    """The text of a file in UTF-8, decompressed if its name ends in ``.gz``, or of standard input.

    Bytes that are not UTF-8 make lone surrogates.

    Args:
        path: a file, or standard input.
        newline: as in `open`.

    Raises:
        ValueError: the compressed data is damaged, or the file is UTF-16 or UTF-32.
        OSError: the file cannot be read.
    """
    with _opened(path) as file:
        stream = gzip.GzipFile(fileobj=file) if path.suffix.lower() == GZIP else file
        # The mark at the start does not belong to a column's name.
        text = OpenedText(stream, encoding="utf-8-sig", newline=newline, errors="surrogateescape")
        text.file = file
        try:
            if not is_standard(path):
                _check_encoding(cast(io.BufferedReader, stream).peek(4)[:4], path)
                text.size = os.fstat(file.fileno()).st_size
            yield text
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(
                f"Expected {path.name} to be whole, but it cannot be decompressed ({error})."
            ) from error
        finally:
            text.detach()  # standard input stays open


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    if not is_standard(path):
        return path.open("rb")
    if sys.stdin is None:
        raise OSError(errno.EBADF, "Standard input is closed")
    return nullcontext(sys.stdin.buffer)


def _check_encoding(start: bytes, path: Path) -> None:
    """Refuses UTF-16 and UTF-32 (ValueError)."""
    if b"\0" in start or start[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        raise ValueError(
            f"Expected {path.name} to be UTF-8, but it is another encoding. Convert it, for "
            f"example with: iconv -f UTF-16 -t UTF-8 {path.name}"
        )


def has_surrogate(*texts: str) -> bool:
    """Whether texts have a lone surrogate, which JSON may have and which is in the place of a byte that
    is not UTF-8.
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return True
    return False


def bytes_of(*texts: str) -> int:
    """How many bytes texts have in UTF-8."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _check_unique(columns: Iterable[str], path: Path) -> None:
    """Raises ValueError if a column occurs twice: a row would have only one of its values."""
    for column, times in Counter(columns).most_common(1):
        if times > 1:
            raise ValueError(
                f"Expected the column names in {path.name} to be unique, but {column!r} occurs "
                f"{times} times."
            )


class _Repeated(str):
    """Takes the place of an object that has this key twice."""

    __slots__ = ()


def parsed(text: str) -> tuple[Row, str]:
    """The object that a text of JSON is, and what is wrong with it, as the end of a sentence: for example
    the same key twice.
    """
    value, problem = _parse(text)
    return ({}, problem) if problem else _checked(value)


def _parse(text: str) -> tuple[Any, str]:
    """The value of a text of JSON, and what is wrong with the text."""
    if has_surrogate(text):
        return None, "is not UTF-8"
    try:
        return _DECODER.decode(text.removeprefix(_MARK)), ""
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        problem = f"is not JSON ({error.msg.removesuffix(' at')} at {line}column {error.colno})"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:  # Python refuses to convert this many digits, because that is slow
        problem = "has an integer with too many digits"
    return None, problem


def _object(pairs: list[tuple[str, Any]]) -> Row | _Repeated:
    row = dict(pairs)
    if len(row) == len(pairs):
        return row
    return _Repeated(Counter(name for name, _ in pairs).most_common(1)[0][0])


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _checked(value: Any) -> tuple[Row, str]:
    """A value of JSON as a row, or what is wrong with it."""
    if not isinstance(value, (dict, _Repeated)):
        return {}, f"is a JSON {type(value).__name__}, not an object"
    problem = _inner_problem(value, _DEPTH)
    return ({}, problem) if problem else (cast(Row, value), "")


def _inner_problem(value: Any, levels: int) -> str:
    """What is wrong inside a value that may have some levels of objects and arrays."""
    if isinstance(value, _Repeated):
        return f"has the key {str(value)!r} twice in one object"
    if not isinstance(value, (dict, list)):
        return ""
    if not levels:
        return "is nested too deeply"
    inner = value.values() if isinstance(value, dict) else value
    deeper = [each for each in inner if isinstance(each, (dict, list, _Repeated))]
    return next(filter(None, (_inner_problem(each, levels - 1) for each in deeper)), "")


def _header(cells: list[str], path: Path) -> list[str]:
    """The names in a header."""
    if has_surrogate(*cells):
        raise ValueError(
            f"Expected the header of {path.name} to be UTF-8, but it is not. Convert the file, for "
            "example with iconv."
        )
    delimiter = next((other for other in _DELIMITERS if other in "".join(cells)), "")
    if len(cells) == 1 and delimiter:
        raise ValueError(
            f"Expected the header of {path.name} to have several columns, but got {cells[0]!r}. Set "
            f"`delimiter` if the cells are separated by {delimiter!r}."
        )
    # The index that pandas writes has no name; pandas reads it back under this one.
    columns = [cell or f"Unnamed: {index}" for index, cell in enumerate(cells)]
    _check_unique(columns, path)
    return columns


def _cells_problem(cells: list[str], columns: list[str], begins: int) -> str:
    if len(cells) > len(columns):
        return f"has more than the {len(columns)} columns of the header (line {begins} of the file)"
    if has_surrogate(*cells):
        return f"is not UTF-8 (line {begins} of the file); convert the file, for example with iconv"
    return ""


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """A file as a ``pyarrow.parquet.ParquetFile``, read in small parts whatever its row groups are.

    Raises ValueError if it is not Parquet or is damaged, ImportError without pyarrow, OSError if it
    cannot be read.
    """
    pyarrow = import_pyarrow()
    with path.open("rb") as stream:  # by Python: pyarrow cannot open names that are not UTF-8
        try:
            with pyarrow.parquet.ParquetFile(
                stream, pre_buffer=False, buffer_size=_BUFFER
            ) as table:
                yield table
        except (
            pyarrow.ArrowException,
            OSError,
            UnicodeDecodeError,
        ) as error:  # the last: of a name
            if isinstance(error, OSError) and error.errno:
                raise
            raise ValueError(
                f"Expected {path.name} to be Parquet, but it cannot be read: {str(error).rstrip('.')}."
            ) from error


def _python_row(one_row: Any) -> tuple[Row, str]:
    """A row of Arrow as Python has it, or what is wrong with it."""
    row = {}
    for name, column in zip(one_row.schema.names, one_row.columns, strict=True):
        try:
            row[name] = column[0].as_py()
        except (ArithmeticError, ValueError) as error:  # not UTF-8, or a date Python does not know
            return {}, f"column {name!r} cannot be read ({error})"
    return row, ""


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows of each row group."""
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(encode_json_lines([row]))
        if len(group) == _GROUP_ROWS or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _column_types(pyarrow: Any, rows: Iterable[Row]) -> dict[str, Any]:
    """The type of each column: the best one that holds its values in all groups of rows."""
    types: dict[str, list[Any]] = {}
    for group in _groups(rows):
        for name in dict.fromkeys(name for row in group for name in row):
            known = types.setdefault(name, [])
            if values := [row[name] for row in group if row.get(name) is not None]:
                fitting = _fitting_types(pyarrow, values)
                types[name] = [kind for kind in known or fitting if kind in fitting]
    return {name: next(iter(known), pyarrow.null()) for name, known in types.items()}


def _fitting_types(pyarrow: Any, values: Sequence[Any]) -> list[Any]:
    """The types of Parquet that hold values, the best one first; text holds all of them."""
    fitting = [pyarrow.string()]
    with suppress(pyarrow.ArrowException, OverflowError, TypeError, ValueError):
        inferred = pyarrow.array(values).type
        # Parquet lacks some types, such as an object without fields.
        pyarrow.parquet.ParquetWriter(io.BytesIO(), pyarrow.schema([("", inferred)])).close()
        fitting.insert(0, inferred)
        if inferred == pyarrow.int64():
            fitting.insert(1, pyarrow.array(values, pyarrow.float64()).type)
    return fitting


def _array(pyarrow: Any, values: Sequence[Any], kind: Any) -> Any:
    if kind == pyarrow.string():
        values = [
            None
            if value is None
            else encodable(value if isinstance(value, str) else to_json(value))
            for value in values
        ]
    return pyarrow.array(values, kind)


def encode_json_lines(rows: Iterable[Row]) -> bytes:
    r"""Rows as JSON Lines in UTF-8. A lone surrogate, which has no UTF-8, is written as JSON writes
    it: ``\ud800``.
    """
    return "".join(f"{to_json(row)}\n" for row in rows).encode("utf-8", "backslashreplace")


def encodable(text: str) -> str:
    r"""A text with each lone surrogate, which has no UTF-8, as JSON writes it: ``\ud800``."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def to_json(value: Any, indent: int | None = None) -> str:
    r"""A value as JSON that every parser reads.

    NaN and the infinities, which JSON does not have, become ``null``; bytes become Base64; dates
    and others become text.
    """
    try:
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, default=_to_text, indent=indent
        )
    except ValueError:
        as_text = json.dumps(value, default=_to_text)
        return to_json(json.loads(as_text, parse_constant=lambda _: None), indent)


def _to_cell(value: Any) -> str:
    """A value as a cell of CSV: nothing and NaN are empty, lists and objects are JSON."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, (dict, list, tuple)):
        return to_json(value)
    return _to_text(value)


def _to_text(value: Any) -> str:
    return b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)
