"""The lines of a table, one after the other and never all in memory; the format follows from the
ending of the file's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from estime_metric.files.formats import ENCODED, format_ending, reader_of
from estime_metric.files.lines import Line, Row
from estime_metric.files.options import DEFAULT_OPTIONS, LimitError, ReadLimits, ReadOptions
from estime_metric.files.streams import is_standard


def read_rows(path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Line]:
    """The lines of a table, each with its row or with what is wrong with it.

    The file's name ends in one of ``READABLE``, all except Parquet also followed by ``.gz`` or
    ``.zst``; ``-`` is JSON Lines on standard input.

    Raises:
        ValueError: another ending; an encoding that the format does not have; UTF-16 without
            ``encoding``; a column twice in a header or a schema; a file that is damaged.
        LimitError: the file exceeds ``options.limits``.
        ImportError: Parquet or ``.zst`` without pyarrow.
        OSError: the file cannot be read.
    """
    read = reader_of(path)
    if options.encoding and (is_standard(path) or format_ending(path) not in ENCODED):
        raise ValueError(
            f"Expected `encoding` with {', '.join(ENCODED)}, but got it with {path.name}, which is "
            "always UTF-8."
        )
    return _within(options.limits, read(path, options), path)


def _within(limits: ReadLimits, lines: Iterator[Line], path: Path) -> Iterator[Line]:
    for read, line in enumerate(lines, start=1):
        if limits.rows is not None and read > limits.rows:
            raise LimitError(
                f"Expected {path.name} to have at most {limits.rows:,} rows, but it has more.",
                "rows",
            )
        if len(line.row) > limits.columns:
            yield Line(path, line.number, problem=f"has more than {limits.columns:,} columns")
        elif _is_deeper(line.row, limits.depth):
            yield Line(path, line.number, problem=f"is nested more than {limits.depth} levels deep")
        else:
            yield line


def _is_deeper(row: Row, depth: int) -> bool:
    """Whether there are more than ``depth`` lists and objects inside one another, the row not
    counted.
    """
    level: list[Any] = [row]
    for _ in range(depth + 1):
        level = [inner for outer in level for inner in _containers(outer)]
        if not level:
            return False
    return True


def _containers(outer: Any) -> list[Any]:
    values = outer.values() if isinstance(outer, dict) else outer
    return [value for value in values if isinstance(value, (dict, list, tuple))]
