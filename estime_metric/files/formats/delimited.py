"""CSV and TSV: a header, then a row of cells for each line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from estime_metric.files.layout import Layout
from estime_metric.files.lines import Line, check_unique
from estime_metric.files.streams import format_ending, is_decoded, opened_text

MAX_CELL = 10_000_000  # characters of a cell: no more are read if a quotation mark is not closed
_OTHERS = (";", "\t", "|", ",")  # delimiters that a header may have instead of the expected one


def read(path: Path, layout: Layout) -> Iterator[Line]:
    """The rows below the header. A row with fewer cells than the header lacks the last columns.

    Raises:
        ValueError: the header names a column twice, is not UTF-8, or seems to have another
            delimiter; a cell is too long; a quotation mark is not closed or is followed by further
            text. Otherwise as `opened_text`.
    """
    # The limit belongs to the process: lowering it again would break other threads.
    csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
    delimiter = layout.delimiter or ("\t" if format_ending(path) == ".tsv" else ",")
    with opened_text(path, newline="") as text:
        # Without `strict`, a quotation mark that is not closed joins rows, and nothing says so.
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        begins = 1  # the line of the file on which the row begins that is read next
        try:
            columns: list[str] = []
            while not columns and (cells := next(reader, None)) is not None:
                columns = _columns(cells, path)
            number = 0
            begins = reader.line_num + 1
            for number, cells in enumerate(reader, start=1):
                problem = _problem(cells, columns, begins)
                begins = reader.line_num + 1
                if cells:
                    row = {} if problem else dict(zip(columns, cells, strict=False))
                    yield Line(path, number, row, problem, text.share)
        except csv.Error as error:
            raise ValueError(
                f"Expected {path.name} to be CSV, but the row that begins on line {begins} of the "
                f"file is not: {error}. Is a quotation mark not closed?"
            ) from error


def _columns(cells: list[str], path: Path) -> list[str]:
    """The names in a header; none if it is a blank line."""
    if not all(map(is_decoded, cells)):
        raise ValueError(
            f"Expected the header of {path.name} to be UTF-8, but it is not. Convert the file, for "
            "example with iconv."
        )
    delimiter = next((other for other in _OTHERS if other in cells[0]), "") if cells else ""
    if len(cells) == 1 and delimiter:
        raise ValueError(
            f"Expected the header of {path.name} to have several columns, but got {cells[0]!r}. Set "
            f"`delimiter` if the cells are separated by {delimiter!r}."
        )
    # The index that pandas writes has no name; pandas reads it back under this one.
    columns = [cell or f"Unnamed: {index}" for index, cell in enumerate(cells)]
    check_unique(columns, path)
    return columns


def _problem(cells: list[str], columns: list[str], begins: int) -> str:
    if len(cells) > len(columns):
        return f"has more than the {len(columns)} columns of the header (line {begins} of the file)"
    if not all(map(is_decoded, cells)):
        return f"is not UTF-8 (line {begins} of the file); convert the file, for example with iconv"
    return ""
