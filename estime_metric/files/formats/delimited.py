"""CSV and TSV: a header, then a row of cells for each line."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from pathlib import Path

from estime_metric.files.formats.encodings import is_decoded, opened_text
from estime_metric.files.layout import Layout
from estime_metric.files.lines import Line, check_unique
from estime_metric.files.streams import format_ending

MAX_CELL = 10_000_000  # characters of a cell: no more are read if a quotation mark is not closed
_OTHERS = (";", "\t", "|", ",")  # delimiters that a header may have instead of the expected one


def read(path: Path, layout: Layout) -> Iterator[Line]:
    """The rows below the header. A row with fewer cells than the header lacks the last columns.

    A cell of TSV with both a tab and a line break may be several rows between two quotation marks;
    the first one of a file is reported as a RuntimeWarning.

    Raises:
        ValueError: the header names a column twice or is not in the encoding, the cells seem to be
            separated by another delimiter, a cell is too long, or a quotation mark is not closed or
            is followed by further text. Otherwise as `opened`.
    """
    with opened_text(path, layout, newline="") as text:
        records = _Records(text, path, layout)
        columns = _read_header(records, path, layout)
        number = 0
        is_warned = False
        while (cells := records.next()) is not None:
            number += 1
            if len(cells) > len(columns) and (delimiter := likely_delimiter(columns)) is not None:
                raise ValueError(
                    f"Expected the rows of {path.name} to have a single column, as the header has, "
                    f"but line {records.begins} of the file has more. Set `delimiter` if the cells "
                    f"are separated by {delimiter!r}."
                )
            if not is_warned and records.delimiter == "\t" and any(map(_may_be_rows, cells)):
                is_warned = True
                _warn_of_joined_rows(path, records.begins)
            problem = _problem(cells, columns, layout, records.begins)
            if problem:
                yield Line(path, number, problem=problem)
            elif cells:
                yield Line(path, number, dict(zip(columns, cells, strict=False)))


def delimiter_of(path: Path, layout: Layout) -> str:
    """The delimiter of a file: the requested one, or the one that its name implies."""
    if layout.delimiter is not None:
        return layout.delimiter
    return "\t" if format_ending(path) == ".tsv" else ","


def likely_delimiter(columns: list[str]) -> str | None:
    """The delimiter that a file seems to have, if its header was read as a single column."""
    if len(columns) != 1:
        return None
    return next((delimiter for delimiter in _OTHERS if delimiter in columns[0]), None)


class _Records:
    """The rows of cells of a file, header included.

    Attributes:
        delimiter: the character between cells.
        begins: the line of the file on which the last row begins, from 1.
    """

    def __init__(self, text: Iterator[str], path: Path, layout: Layout) -> None:
        # The limit belongs to the process: lowering it again would break other threads.
        csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
        self._text, self._path = text, path
        self.delimiter = delimiter_of(path, layout)
        self._is_quoted = not layout.unquoted
        # Without `strict`, a quotation mark that is not closed joins rows, and nothing says so.
        self._reader = csv.reader(
            self._lines(),
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self._is_quoted else csv.QUOTE_NONE,
            strict=True,
        )
        self._is_in_row = False
        self._cell_begins = 0  # the line on which the last cell begins that a quotation mark opens
        self.begins = 0

    def next(self) -> list[str] | None:
        """The cells of the next row, none for a blank line; ``None`` after the last row.

        Raises ValueError, with the line on which the cell begins, if the file is not CSV.
        """
        self._is_in_row = False
        self.begins = self._reader.line_num + 1
        try:
            return next(self._reader, None)
        except csv.Error as error:
            raise ValueError(
                f"Expected {self._path.name} to be CSV, but a cell that begins on line "
                f"{self._cell_begins} of the file is not: {error}.{self._hint()}"
            ) from error

    def _lines(self) -> Iterator[str]:
        """The lines for the reader, which asks for another one while a quotation mark is open."""
        for number, line in enumerate(self._text, start=1):
            if not self._is_in_row or self._opens_cell(line):
                self._cell_begins = number
            self._is_in_row = True
            yield line

    def _opens_cell(self, line: str) -> bool:
        """Whether a line that begins within a quoted cell ends it and has further cells."""
        _, closing, rest = line.replace('""', "").partition('"')
        return bool(closing) and rest.startswith(self.delimiter)

    def _hint(self) -> str:
        if not self._is_quoted:
            return ""
        return (
            " Is a quotation mark not closed? If quotation marks are ordinary characters in this "
            "file, set `unquoted`."
        )


def _read_header(records: _Records, path: Path, layout: Layout) -> list[str]:
    cells: list[str] | None = []
    while cells == []:
        cells = records.next()
    if not all(map(is_decoded, cells or ())):
        raise ValueError(
            f"Expected the header of {path.name} to be {layout.encoding or 'UTF-8'}, but it is "
            "not: set `encoding`, for example to latin-1."
        )
    # The index that pandas writes has no name; pandas reads it back under this one.
    columns = [cell or f"Unnamed: {index}" for index, cell in enumerate(cells or ())]
    check_unique(columns, path)
    return columns


def _may_be_rows(cell: str) -> bool:
    return "\t" in cell and ("\n" in cell or "\r" in cell)


def _warn_of_joined_rows(path: Path, line: int) -> None:
    warnings.warn(
        f"The row that begins on line {line} of {path.name} has a cell with a tab and a line break. "
        "If two quotation marks have joined several rows there, set `unquoted`.",
        RuntimeWarning,
        stacklevel=2,
    )


def _problem(cells: list[str], columns: list[str], layout: Layout, starts_at: int) -> str:
    where = f"(line {starts_at} of the file)"
    if len(cells) > len(columns):
        return f"has more than the {len(columns)} columns of the header {where}"
    if not all(map(is_decoded, cells)):
        if layout.encoding:
            return f"is not {layout.encoding} {where}"
        return f"is not UTF-8 {where}; if the file has another encoding, set `encoding`"
    return ""
