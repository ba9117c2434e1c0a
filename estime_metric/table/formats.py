"""The formats of tables: a class each, with its reader and its writer.

A reader yields the lines of a file one after the other; all except that of a JSON array never have the whole
file in memory. To add a format, write a class and add it to `FORMATS`, and to `WRITABLE` if it is written.
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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
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

WRITABLE = (".jsonl", ".csv", PARQUET)
MAX_CELL = 10_000_000  # characters of a cell: no more are read if a quotation mark is not closed

_MARK = "\ufeff"  # which files that were appended to one another have in the middle
_DEPTH = 45  # objects and arrays inside one another that a row may have, with which no format has trouble
_BATCH_ROWS, _BATCH_BYTES = 64, 4_000_000  # of Parquet that are decoded together
_GROUP_ROWS, _GROUP_BYTES = 10_000, 8_000_000  # of a row group of Parquet, which is in memory
_BUFFER = 65_536  # bytes of Parquet that are read together
_DELIMITERS = (";", "\t", "|", ",")  # that a header may have instead of the expected one
_KEY = b"estime"  # of the record in the metadata of Parquet

#: A row of a table: the names of its columns and their values.
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
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
    """How rows are stored in a file, and the record next to it.

    Attributes:
        has_text_cells: whether all cells are text, as in CSV, so that ``7`` is not a number.
    """

    has_text_cells = False

    def read(self, path: Path, delimiter: str | None = None) -> Iterator[Line]:
        """The lines of a file; ``delimiter`` is that of CSV. Errors as of `read_rows`."""
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

    def read(self, path: Path, delimiter: str | None = None) -> Iterator[Line]:
        """The lines of JSON Lines; blank ones are counted and skipped."""
        with opened_text(path, newline="\n") as text:
            for number, line in enumerate(text, start=1):
                if line.removeprefix(_MARK).strip():
                    row, problem = parsed(line)
                    yield Line(path, number, row, problem, bytes_of(line), text.share)

    def write_rows(self, path: Path, rows: Iterable[Row]) -> None:  # noqa: D102 - as of `Format`
        with path.open("wb") as stream:
            stream.writelines(encode_json_lines([row]) for row in rows)


class JsonArray(Format):
    """An array of JSON objects, which is only read."""

    def read(self, path: Path, delimiter: str | None = None) -> Iterator[Line]:
        """The objects of an array, counted from 1. The whole file is read into memory."""
        with opened_text(path, newline="\n") as text:
            content = text.read()
        try:
            values = _parse(content)
            if not isinstance(values, list):
                raise _JsonError("is not an array")
        except _JsonError as error:
            raise ValueError(
                f"Expected {path.name} to be a JSON array of objects, but it {error}. If it has one "
                "object per line, name it .jsonl."
            ) from error
        size = bytes_of(content) // max(len(values), 1)
        for number, value in enumerate(values, start=1):
            row, problem = _checked(value)
            yield Line(path, number, row, problem, size, number / len(values))


class Delimited(Format):
    """CSV.

    Args:
        delimiter: between the cells, unless the reader is told another one.
    """

    has_text_cells = True

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter

    def read(self, path: Path, delimiter: str | None = None) -> Iterator[Line]:
        """The rows below the header of CSV. A row with fewer cells than the header lacks the last columns.

        Raises ValueError if the header names a column twice, is not UTF-8, or seems to have another
        delimiter; a cell is too long; a quotation mark is not closed or is followed by further text.
        """
        # The limit belongs to the process: lowering it again would break other threads.
        csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
        with opened_text(path, newline="") as text:
            # Without `strict`, a quotation mark that is not closed joins rows, and nothing says so.
            reader = csv.reader(text, delimiter=delimiter or self._delimiter, strict=True)
            begins = 1  # the line of the file on which the row begins that is read next
            try:
                columns: list[str] = []
                while not columns and (cells := next(reader, None)) is not None:
                    columns = _header(cells, path)
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

    def read(self, path: Path, delimiter: str | None = None) -> Iterator[Line]:
        """The rows of Parquet, counted from 1."""
        with opened_parquet(path) as table:
            _check_unique(table.schema_arrow.names, path)
            numbers = count(1)
            metadata = table.metadata
            size = sum(
                metadata.row_group(index).total_byte_size for index in range(table.num_row_groups)
            )
            rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES * metadata.num_rows // max(size, 1)))
            for batch in table.iter_batches(rows, use_threads=False):
                for index in range(batch.num_rows):
                    number = next(numbers)
                    row, problem = _batch_row(batch, index)
                    size = batch.slice(index, 1).nbytes
                    yield Line(path, number, row, problem, size, number / table.metadata.num_rows)

    def record(self, path: Path) -> bytes | None:  # noqa: D102 - as of `Format`
        with opened_parquet(path) as table:
            text: bytes | None = (table.schema_arrow.metadata or {}).get(_KEY)
            return text

    def write(self, path: Path, rows: Iterable[Row], record: bytes) -> None:
        r"""Writes a file with its record in the metadata. The rows are read twice: for the types of
        the columns, then for the values.

        A column with values of several types becomes text, except that integers become floats if there
        are floats. So does a column with integers of more than 64 bits. In text, all values except
        texts are JSON. A lone surrogate, which has no UTF-8, becomes ``\ud800``.
        """
        pyarrow = import_pyarrow()
        kinds: dict[str, list[Any]] = {}  # of each column, the types that can represent all values
        for group in _groups(rows):
            for name in dict.fromkeys(name for row in group for name in row):
                fitting = _fitting_types(pyarrow, [row.get(name) for row in group])
                if kinds.get(name, [pyarrow.null()]) == [pyarrow.null()]:
                    kinds[name] = fitting
                elif fitting != [pyarrow.null()]:
                    kinds[name] = [kind for kind in kinds[name] if kind in fitting]
        fields = {name: (fitting or [pyarrow.string()])[0] for name, fitting in kinds.items()}
        columns = [(encodable(name), kind) for name, kind in fields.items()]
        schema = pyarrow.schema(columns, metadata={_KEY: record} if record else None)
        with (
            replaced(path) as unfinished,
            unfinished.open("wb") as stream,
            pyarrow.parquet.ParquetWriter(stream, schema) as writer,
        ):
            for group in _groups(rows):
                arrays = [
                    _array(pyarrow, [row.get(name) for row in group], kind)
                    for name, kind in fields.items()
                ]
                writer.write_table(pyarrow.table(arrays, schema=schema))
                del arrays, group  # before the next one is made


#: The ending of a file's name -> its format.
FORMATS: dict[str, Format] = {
    ".jsonl": JsonLines(),
    ".ndjson": JsonLines(),
    ".json": JsonArray(),
    ".csv": Delimited(","),
    ".tsv": Delimited("\t"),
    PARQUET: Parquet(),
}
READABLE = tuple(ending for ending in FORMATS if ending != ".ndjson")


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
        size: bytes of the file; 0 if they are not known, as with standard input and pipes.
    """

    size = 0

    @property
    def share(self) -> float:
        """About which share of the file has been read; 0 if its size is not known."""
        # A `GzipFile` has the compressed file.
        file = cast(BinaryIO, getattr(self.buffer, "fileobj", self.buffer))
        return file.tell() / self.size if self.size else 0.0


@contextmanager
def opened_text(path: Path, newline: str) -> Iterator[OpenedText]:
    """The text of a file in UTF-8, decompressed if its name ends in ``.gz``, or of standard input.

    Bytes that are not UTF-8 make characters that `is_decoded` refuses.

    Args:
        path: a file, or standard input.
        newline: as in `open`.

    Raises:
        ValueError: the compressed data is damaged, or the file is UTF-16 or UTF-32.
        OSError: the file cannot be read.
    """
    try:
        with _opened(path) as stream:
            # The mark at the start does not belong to a column's name.
            text = OpenedText(
                stream, encoding="utf-8-sig", newline=newline, errors="surrogateescape"
            )
            text.size = 0 if is_standard(path) else os.fstat(stream.fileno()).st_size
            try:
                yield text
            finally:
                text.detach()  # standard input stays open
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"Expected {path.name} to be whole, but it cannot be decompressed ({error})."
        ) from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if is_standard(path):
        if sys.stdin is None:
            raise OSError(errno.EBADF, "Standard input is closed")
        yield sys.stdin.buffer
        return
    is_compressed = path.suffix.lower() == GZIP
    with gzip.open(path) if is_compressed else path.open("rb") as stream:
        start = cast(io.BufferedReader, stream).peek(4)[:4]
        if b"\0" in start or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise ValueError(
                f"Expected {path.name} to be UTF-8, but it is another encoding. Convert it, for "
                f"example with: iconv -f UTF-16 -t UTF-8 {path.name}"
            )
        yield cast(BinaryIO, stream)


def is_decoded(*texts: str) -> bool:
    """Whether all of some texts could be decoded."""
    return all(
        text.isascii() or not any("\udc80" <= character <= "\udcff" for character in text)
        for text in texts
    )


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


class _JsonError(ValueError):
    """A text is not JSON; the message is the end of a sentence."""


class _Repeated(str):
    """Takes the place of an object that has this key twice."""

    __slots__ = ()


def parsed(text: str) -> tuple[Row, str]:
    """The object that a text of JSON is, and what is wrong with it, as the end of a sentence: for example
    the same key twice.
    """
    try:
        return _checked(_parse(text))
    except _JsonError as error:
        return {}, str(error)


def _parse(text: str) -> Any:
    """The value of a text of JSON."""
    if not is_decoded(text):
        raise _JsonError("is not UTF-8")
    try:
        return json.loads(text.removeprefix(_MARK), object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        problem = f"is not JSON ({error.msg.removesuffix(' at')} at {line}column {error.colno})"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:  # Python refuses to convert this many digits, because that is slow
        problem = "has an integer with too many digits"
    raise _JsonError(problem)


def _object(pairs: list[tuple[str, Any]]) -> Row | _Repeated:
    row = dict(pairs)
    if len(row) == len(pairs):
        return row
    return _Repeated(Counter(name for name, _ in pairs).most_common(1)[0][0])


def _checked(value: Any) -> tuple[Row, str]:
    """A value of JSON as a row, or what is wrong with it."""
    if not isinstance(value, (dict, _Repeated)):
        return {}, f"is a JSON {type(value).__name__}, not an object"
    level: list[Any] = [value]  # what is inside the same number of objects and arrays
    for _ in range(_DEPTH):
        for repeated in level:
            if isinstance(repeated, _Repeated):
                return {}, f"has the key {str(repeated)!r} twice in one object"
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list, _Repeated))
        ]
        if not level:
            return cast(Row, value), ""
    return {}, "is nested too deeply"


def _header(cells: list[str], path: Path) -> list[str]:
    """The names in a header; none if it is a blank line."""
    if not is_decoded(*cells):
        raise ValueError(
            f"Expected the header of {path.name} to be UTF-8, but it is not. Convert the file, for "
            "example with iconv."
        )
    delimiter = next((other for other in _DELIMITERS if other in cells[0]), "") if cells else ""
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
    if not is_decoded(*cells):
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


def _batch_row(batch: Any, index: int) -> tuple[Row, str]:
    """A row, or what is wrong with it."""
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            row[name] = column[index].as_py()
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


def encode_json_lines(rows: Iterable[Row]) -> bytes:
    r"""Rows as JSON Lines in UTF-8. A lone surrogate, which has no UTF-8, is written as JSON writes
    it: ``\ud800``.
    """
    return encodable("".join(f"{to_json(row)}\n" for row in rows)).encode("utf-8")


def encodable(text: str) -> str:
    r"""A text with each lone surrogate, which has no UTF-8, as JSON writes it: ``\ud800``."""
    if text.isascii():
        return text
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def to_json(value: Any, indent: int | None = None) -> str:
    r"""A value as JSON that every parser reads.

    NaN and the infinities, which JSON does not have, become ``null``; bytes become Base64; dates
    and others become text.
    """
    write = partial(
        json.dumps, ensure_ascii=False, allow_nan=False, default=_to_text, indent=indent
    )
    try:
        return write(value)
    except ValueError:
        return write(_without_nan(value))


def _to_cell(value: Any) -> str:
    """A value as a cell of CSV: nothing and NaN are empty, lists and objects are JSON."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, (dict, list, tuple)):
        return to_json(value)
    return _to_text(value)


def _to_text(value: Any) -> str:
    return b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _without_nan(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(inner) for inner in value]
    return value
