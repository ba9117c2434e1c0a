"""CSV and TSV: a header, then a row of cells for each line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from estime_metric.files.formats.encodings import is_decoded, opened_text
from estime_metric.files.lines import Line
from estime_metric.files.options import LimitError, ReadOptions
from estime_metric.files.streams import COMPRESSED

MAX_CELL = 10_000_000  # characters of a cell: a quotation mark that is missing ends here
_OTHERS = (";", "\t", "|", ",")  # delimiters that a header may have instead of the expected one


def read(path: Path, options: ReadOptions) -> Iterator[Line]:
    """The rows below the header. A row with fewer cells than the header lacks the last columns.

    Raises:
        LimitError: the header has too many columns.
        ValueError: the header names a column twice or is not in the encoding, or a cell is too
            long. Otherwise as `opened`.
    """
    with opened_text(path, options, newline="") as text:
        reader = csv.reader(text, delimiter=delimiter_of(path, options))
        columns = _read_header(reader, path, options)
        number = 0
        starts_at = reader.line_num + 1  # the line of the file on which the next row begins
        while (cells := _next_record(reader, path)) is not None:
            number += 1
            problem = _problem(cells, columns, options, starts_at)
            if problem:
                yield Line(path, number, problem=problem)
            elif cells:
                yield Line(path, number, dict(zip(columns, cells, strict=False)))
            starts_at = reader.line_num + 1


def delimiter_of(path: Path, options: ReadOptions) -> str:
    """The delimiter of a file: the requested one, or the one that its name implies."""
    if options.delimiter is not None:
        return options.delimiter
    endings = [suffix.lower() for suffix in path.suffixes]
    return "\t" if [one for one in endings if one not in COMPRESSED][-1:] == [".tsv"] else ","


def likely_delimiter(columns: list[str]) -> str | None:
    """The delimiter that a file seems to have, if its header was read as a single column."""
    if len(columns) != 1:
        return None
    return next((one for one in _OTHERS if one in columns[0]), None)


def _read_header(reader: Any, path: Path, options: ReadOptions) -> list[str]:
    cells: list[str] | None = []
    while cells == []:
        cells = _next_record(reader, path)
    if not all(map(is_decoded, cells or ())):
        raise ValueError(
            f"Expected the header of {path.name} to be {options.encoding or 'UTF-8'}, but it is "
            "not: set `encoding`, for example to latin-1."
        )
    # The index that pandas writes has no name; pandas reads it back under this one.
    columns = [cell or f"Unnamed: {index}" for index, cell in enumerate(cells or ())]
    if len(columns) > options.limits.columns:
        raise LimitError(
            f"Expected {path.name} to have at most {options.limits.columns:,} columns, but it has "
            f"{len(columns):,}.",
            "columns",
        )
    column, times = next(iter(Counter(columns).most_common(1)), ("", 0))
    if times > 1:
        raise ValueError(
            f"Expected the column names in {path.name} to be unique, but {column!r} occurs "
            f"{times} times in the header."
        )
    return columns


def _next_record(reader: Any, path: Path) -> list[str] | None:
    before = csv.field_size_limit(MAX_CELL)  # of the whole process, so it is set back
    try:
        return next(reader, None)
    except csv.Error as error:
        hint = ""
        if "field larger" in str(error):
            hint = " Is a quotation mark missing?"
        raise ValueError(
            f"Expected {path.name} to be CSV, but line {reader.line_num} of the file is not: "
            f"{error}.{hint}"
        ) from error
    finally:
        csv.field_size_limit(before)


def _problem(cells: list[str], columns: list[str], options: ReadOptions, starts_at: int) -> str:
    where = f"(line {starts_at} of the file)"
    if len(cells) > len(columns):
        return f"has more than the {len(columns)} columns of the header {where}"
    if not all(map(is_decoded, cells)):
        if options.encoding:
            return f"is not {options.encoding} {where}"
        return f"is not UTF-8 {where}; if the file has another encoding, set `encoding`"
    return ""
