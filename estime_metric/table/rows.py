"""Files -> their lines: each with its row, or with what is wrong with it.

A reader is a function from a path and a `Layout` to the lines of the file. It yields them one after
the other; all except the reader of a JSON array never have the whole file in memory. To add a format,
write such a reader and add its ending to ``READERS``.
"""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice, zip_longest
from pathlib import Path
from typing import Any, BinaryIO, cast

from estime_metric.checks import has_words
from estime_metric.passages import joined, passage_problem
from estime_metric.table.output import GZIP, import_pyarrow, is_standard

MAX_CELL = 10_000_000  # characters of a cell: no more are read if a quotation mark is not closed

_MARK = "\ufeff"  # which files that were appended to one another have in the middle
_DEPTH = 45  # objects and arrays inside one another that a row may have, with which no format has trouble
_BATCH_ROWS, _BATCH_BYTES = 64, 4_000_000  # of Parquet that are decoded together
_BUFFER = 65_536  # bytes of Parquet that are read together
_HEAD = 100  # lines in which the columns are looked for before the rest is read
_DELIMITED = (".csv", ".tsv")  # formats whose cells are all text
_DELIMITERS = (";", "\t", "|", ",")  # that a header may have instead of the expected one
_NOT_UTF8 = "is not UTF-8; convert the file, for example with iconv"

#: A row of a table: the names of its columns and their values.
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Layout:
    r"""How a file of pairs is read.

    Attributes:
        source_column: Column of the sources.
        summary_column: Column of the summaries.
        delimiter: Character between the cells of CSV, such as ';'. (default: comma, or tab for
            .tsv)
        source_file: Text file with one source per line, in place of tables. The summaries are then
            in text files too, each on the line of its source.

    Raises:
        ValueError: the delimiter is not one character.
    """

    source_column: str = "source"
    summary_column: str = "summary"
    delimiter: str | None = None
    source_file: Path | None = None

    def __post_init__(self) -> None:
        if self.delimiter == r"\t":
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ValueError(
                f"Expected argument `delimiter` to be one character, but got {self.delimiter!r}."
            )

    @property
    def text_columns(self) -> tuple[str, str]:
        """The columns of the source and the summary."""
        return self.source_column, self.summary_column


#: Tables with the columns ``source`` and ``summary``.
TABLES = Layout()


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


class ColumnError(ValueError):
    """A table lacks a column of texts, which ``argument`` names."""

    def __init__(self, path: Path, argument: str, column: str, columns: list[str]) -> None:
        super().__init__(
            f"Expected a column {column!r} in {path.name}, but its columns are "
            f"{', '.join(columns)}. Name the right one with `{argument}`."
        )


def read_rows(path: Path, layout: Layout = TABLES) -> Iterator[Line]:
    """The lines of a table.

    The file's name ends in one of ``READABLE``, all except Parquet also followed by ``.gz``; ``-``
    is JSON Lines on standard input. The file is opened once, and may be moved away while it is read.

    Raises:
        ValueError: another ending; an encoding other than UTF-8; a column twice in a header or a
            schema; a file that is damaged.
        ImportError: Parquet without pyarrow.
        OSError: the file cannot be read.
    """
    if path.is_dir():
        raise ValueError(f"Expected a file, but {str(path)!r} is a folder.")
    if not is_table(path):
        raise ValueError(
            f"Expected a file name that ends in {', '.join(READABLE)} (all except .parquet can be "
            f"followed by {GZIP}), but got {str(path)!r}. Pass text files with one text per line as "
            "`source_file` and `summary_files`."
        )
    return READERS[_format(path)](path, layout)


def read_lines(path: Path, layout: Layout = TABLES) -> Iterator[Line]:
    """The lines of a file of pairs; those without two texts have a problem.

    Raises:
        ColumnError: a table lacks a column of texts.
        ValueError: text files differ in their number of lines; else as `read_rows`.
    """
    if layout.source_file is not None:
        return _read_aligned(path, layout.source_file, layout)
    return _read_pairs(path, layout)


def valid_lines(lines: Iterable[Line], problems: list[str]) -> list[Line]:
    """The lines without a problem; ``problems`` is extended by a sentence for each other line."""
    valid = []
    for line in lines:
        if line.problem:
            problems.append(line.sentence)
        else:
            valid.append(line)
    return valid


def is_table(path: Path) -> bool:
    """Whether the name of a file is that of a table, or standard input."""
    return _format(path) in READERS and not path.name.lower().endswith(f".parquet{GZIP}")


def has_text_cells(path: Path) -> bool:
    """Whether all cells of a file are text, as in CSV, so that ``7`` is not a number."""
    return _format(path) in _DELIMITED


def check_delimiter(layout: Layout, paths: Sequence[Path]) -> None:
    """Refuses a delimiter if no file is CSV (ValueError)."""
    if layout.delimiter is not None and paths and not any(map(has_text_cells, paths)):
        raise ValueError(f"Expected `delimiter` with .csv or .tsv, but got {paths[0].name!r}.")


def header_hint(*paths: Path) -> str:
    """What to add to the message that tables have no rows: the only row of one may be a pair."""
    if all(path.is_file() and not path.stat().st_size for path in paths):
        return f" (the {'file is' if len(paths) == 1 else 'files are'} empty)"
    return " (the first row is read as the header)" if any(map(has_text_cells, paths)) else ""


def no_pairs(paths: Sequence[Path], layout: Layout, problem: str = "") -> ValueError:
    """The error for files without a pair; their first ``problem`` says why."""
    names = ["standard input" if is_standard(path) else str(path) for path in paths]
    reason = f" ({problem})" if problem else header_hint(*paths)
    if "standard input" in names and layout.source_file is None:
        reason += "; standard input is read as JSON Lines"
    return ValueError(f"Expected pairs in {', '.join(names)}, but got none{reason}.")


def pair_problem(row: Row, source_column: str, summary_column: str) -> str:
    """What keeps a row from being scored, as the end of a sentence; empty if nothing does.

    An empty summary is a blank summary, which is scored; a source without words is a problem.
    """
    problem = source_problem(row, source_column) or text_problem(row, summary_column)
    if problem:
        return problem
    has_source = has_words(joined(row[source_column]))
    return "" if has_source else f"column {source_column!r} has no words"


def source_problem(row: Row, column: str) -> str:
    """As `text_problem` for a source, which can also be a list of passages."""
    source = row.get(column)
    if not isinstance(source, list):
        return text_problem(row, column)
    if problem := passage_problem(source):
        return f"column {column!r} should contain text or a list of texts, but {problem}"
    return text_problem({column: joined(source)}, column)


def text_problem(row: Row, column: str) -> str:
    """What is wrong with a column that should contain text, as the end of a sentence; empty if
    nothing is.
    """
    if column not in row:
        return f"column {column!r} is missing (columns: {', '.join(row) or 'none'})"
    text = row[column]
    if not isinstance(text, str):
        came = "is missing" if text is None else f"is of type {type(text).__name__}"
        return f"column {column!r} should contain text, but {came}"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return f"column {column!r} contains a lone surrogate, which is not a valid character"
    return ""


def other_columns(row: Row, layout: Layout) -> Row:
    """A row without the two texts."""
    return {name: value for name, value in row.items() if name not in layout.text_columns}


def _format(path: Path) -> str:
    """The ending that names the format of a file, in lower case and without ``.gz``."""
    return ".jsonl" if is_standard(path) else Path(path.name.lower().removesuffix(GZIP)).suffix


def _read_pairs(path: Path, layout: Layout) -> Iterator[Line]:
    lines = read_rows(path, layout)
    head = list(islice(lines, _HEAD))
    columns = list(dict.fromkeys(column for line in head for column in line.row))
    for argument in ("source_column", "summary_column"):
        column = getattr(layout, argument)
        if columns and column not in columns:
            raise ColumnError(path, argument, column, columns)
    for line in chain(head, lines):
        problem = line.problem or pair_problem(line.row, *layout.text_columns)
        yield replace(line, row={}, problem=problem) if problem else line


def check_text_file(path: Path) -> None:
    """Refuses a table where a file with one text per line is expected (ValueError)."""
    if not is_standard(path) and is_table(path):
        raise ValueError(
            f"Expected a file with one text per line, but {path.name} is a table by its name. Pass a table "
            "without `source_file` and `summary_files`."
        )


def _read_aligned(summary_file: Path, source_file: Path, layout: Layout) -> Iterator[Line]:
    r"""Pairs of the lines of two text files, as rows with the two columns of the layout.

    Only ``\n`` ends a line, with or without ``\r`` before it; other characters that are line ends
    in Unicode belong to the text. The lines of plain files are counted before the first is given.
    """
    for path in (source_file, summary_file):
        check_text_file(path)
    with (
        opened_text(source_file, newline="\n") as sources,
        opened_text(summary_file, newline="\n") as summaries,
    ):
        if sources.seekable() and summaries.seekable():
            counts = [sum(1 for _ in text) for text in (sources, summaries)]
            if counts[0] != counts[1]:
                raise _unequal(source_file, summary_file, f"got {counts[0]} and {counts[1]}")
            for text in (sources, summaries):
                text.seek(0)
        for number, pair in enumerate(zip_longest(sources, summaries), start=1):
            if None in pair:
                difference = f"one of them ends before line {number}"
                raise _unequal(source_file, summary_file, difference)
            source, summary = (line.removesuffix("\n").removesuffix("\r") for line in pair)
            row = {layout.source_column: source, layout.summary_column: summary}
            problem = pair_problem(row, *layout.text_columns) if _is_decoded(*pair) else _NOT_UTF8
            size = _bytes_of(source, summary)
            yield Line(summary_file, number, {} if problem else row, problem, size, summaries.share)


def _unequal(sources: Path, summaries: Path, difference: str) -> ValueError:
    return ValueError(
        f"Expected {sources.name} and {summaries.name} to have the same number of lines, but "
        f"{difference}. If a text contains a line break, pass JSON Lines with the columns source "
        "and summary."
    )


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

    Bytes that are not UTF-8 make characters that `_is_decoded` refuses.

    Args:
        path: a file, or standard input.
        newline: as in `open`.

    Raises:
        ValueError: the compressed data is damaged, or the file is UTF-16 or UTF-32.
        OSError: the file cannot be read.
    """
    try:
        with _opened(path) as stream:
            # The mark at the start is no part of a column's name.
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


def _is_decoded(*texts: str) -> bool:
    """Whether all of some texts could be decoded."""
    return all(
        text.isascii() or not any("\udc80" <= character <= "\udcff" for character in text)
        for text in texts
    )


def _bytes_of(*texts: str) -> int:
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _check_unique(columns: Iterable[str], path: Path) -> None:
    """Raises ValueError if a column occurs twice: a row would have only one of its values."""
    for column, times in Counter(columns).most_common(1):
        if times > 1:
            raise ValueError(
                f"Expected the column names in {path.name} to be unique, but {column!r} occurs "
                f"{times} times."
            )


def _read_json_lines(path: Path, _layout: Layout) -> Iterator[Line]:
    """The lines of JSON Lines; blank ones are counted and skipped."""
    with opened_text(path, newline="\n") as text:
        for number, line in enumerate(text, start=1):
            if line.removeprefix(_MARK).strip():
                row, problem = parsed(line)
                yield Line(path, number, row, problem, _bytes_of(line), text.share)


def _read_json_array(path: Path, _layout: Layout) -> Iterator[Line]:
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
    size = _bytes_of(content) // max(len(values), 1)
    for number, value in enumerate(values, start=1):
        row, problem = _checked(value)
        yield Line(path, number, row, problem, size, number / len(values))


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
    if not _is_decoded(text):
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


def _read_delimited(path: Path, layout: Layout) -> Iterator[Line]:
    """The rows below the header of CSV. A row with fewer cells than the header lacks the last columns.

    Raises ValueError if the header names a column twice, is not UTF-8, or seems to have another
    delimiter; a cell is too long; a quotation mark is not closed or is followed by further text.
    """
    # The limit belongs to the process: lowering it again would break other threads.
    csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
    delimiter = layout.delimiter or ("\t" if _format(path) == ".tsv" else ",")
    with opened_text(path, newline="") as text:
        # Without `strict`, a quotation mark that is not closed joins rows, and nothing says so.
        reader = csv.reader(text, delimiter=delimiter, strict=True)
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
                    yield Line(path, number, row, problem, _bytes_of(*cells), text.share)
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


def _header(cells: list[str], path: Path) -> list[str]:
    """The names in a header; none if it is a blank line."""
    if not _is_decoded(*cells):
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
    if not _is_decoded(*cells):
        return f"is not UTF-8 (line {begins} of the file); convert the file, for example with iconv"
    return ""


def _read_parquet(path: Path, _layout: Layout) -> Iterator[Line]:
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


#: The ending of a file's name -> what reads it.
READERS: dict[str, Callable[[Path, Layout], Iterator[Line]]] = {
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json_array,
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".parquet": _read_parquet,
}
READABLE = tuple(ending for ending in READERS if ending != ".ndjson")
