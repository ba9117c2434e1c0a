"""Files of pairs -> their lines: each with its two texts, or with what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TypeVar

from estime_metric.checks import has_words
from estime_metric.passages import Source, joined, passage_problem
from estime_metric.table.formats import Line, Row, bytes_of, has_surrogate, opened_text
from estime_metric.table.output import is_standard
from estime_metric.table.rows import TABLES, Layout, header_hint, is_table, read_rows

_HEAD = 100  # lines in which the columns are looked for before the rest is read
_NOT_UTF8 = "is not UTF-8; convert the file, for example with iconv"

_AnyLine = TypeVar("_AnyLine", bound=Line)


@dataclass(frozen=True)
class Pair(Line):
    """A line of a file of pairs. Its texts are empty if it has a problem.

    Attributes:
        source: one text, or its passages.
        summary: the summary; blank if nothing was written.
    """

    source: Source = ""
    summary: str = ""


class ColumnError(ValueError):
    """A table lacks a column of texts, which ``argument`` names."""

    def __init__(self, path: Path, argument: str, column: str, columns: list[str]) -> None:
        super().__init__(
            f"Expected a column {column!r} in {path.name}, but its columns are "
            f"{', '.join(columns)}. Name the right one with `{argument}`."
        )


def read_pairs(path: Path, layout: Layout = TABLES) -> Iterator[Pair]:
    """The lines of a file of pairs; those without two texts have a problem.

    Raises:
        ColumnError: a table lacks a column of texts.
        ValueError: text files differ in their number of lines; else as `read_rows`.
    """
    if layout.source_file is not None:
        return _read_aligned(path, layout.source_file, layout)
    return _read_table(path, layout)


def check_readable(paths: Sequence[Path], layout: Layout) -> None:
    """Raises ValueError or OSError if a file of pairs cannot be read: now, not when those before it are
    scored. The first lines of plain files after the first are read; of text files, all lines are counted.
    """
    sources = () if layout.source_file is None else (layout.source_file,)
    for path in (*paths, *sources):
        if not is_standard(path):
            path.stat()
    for path in paths[1:]:
        if not any(map(is_stream, (path, *sources))):
            next(read_pairs(path, layout), None)


def is_stream(path: Path) -> bool:
    """Whether a file can be read only once."""
    return is_standard(path) or not (path.is_file() or path.is_dir())


def valid_lines(lines: Iterable[_AnyLine], problems: list[str]) -> list[_AnyLine]:
    """The lines without a problem; ``problems`` is extended by a sentence for each other line."""
    valid = []
    for line in lines:
        if line.problem:
            problems.append(line.sentence)
        else:
            valid.append(line)
    return valid


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
    problem = _source_problem(row, source_column) or _text_problem(row, summary_column)
    if problem:
        return problem
    has_source = has_words(joined(row[source_column]))
    return "" if has_source else f"column {source_column!r} has no words"


def with_texts(lines: Iterable[Line], columns: Sequence[str]) -> Iterator[Line]:
    """The lines of a table; one without text in one of the columns has a problem."""
    for line in lines:
        problems = [_text_problem(line.row, column) for column in columns]
        yield replace(line, problem=line.problem or "; ".join(filter(None, problems)))


def with_joined_sources(lines: Iterable[Line], layout: Layout) -> Iterator[Line]:
    """The lines of any table, with sources that are lists as one text. One with a list of anything else, or
    with a text that cannot be scored because of a lone surrogate, has a problem.
    """
    for line in lines:
        row, problem = line.row, line.problem
        source = row.get(layout.source_column)
        if isinstance(row.get(layout.summary_column), str):
            problem = _text_problem(row, layout.summary_column)
        if source and isinstance(source, (str, list)):
            problem = problem or _source_problem(row, layout.source_column)
        if isinstance(source, list):
            line = replace(line, row=row | {layout.source_column: joined(source) or None})
        yield replace(line, row={}, problem=problem) if problem else line


def _source_problem(row: Row, column: str) -> str:
    """As `_text_problem` for a source, which can also be a list of passages."""
    source = row.get(column)
    if not isinstance(source, list):
        return _text_problem(row, column)
    if problem := passage_problem(source):
        return f"column {column!r} should contain text or a list of texts, but {problem}"
    return _text_problem({column: joined(source)}, column)


def _text_problem(row: Row, column: str) -> str:
    """What is wrong with a column that should contain text, as the end of a sentence; empty if
    nothing is.
    """
    if column not in row:
        return f"column {column!r} is missing (columns: {', '.join(row) or 'none'})"
    text = row[column]
    if not isinstance(text, str):
        came = "is missing" if text is None else f"is of type {type(text).__name__}"
        return f"column {column!r} should contain text, but {came}"
    if has_surrogate(text):
        return f"column {column!r} contains a lone surrogate, which is not a valid character"
    return ""


def other_columns(row: Row, layout: Layout) -> Row:
    """A row without the two texts."""
    return {name: value for name, value in row.items() if name not in layout.text_columns}


def _read_table(path: Path, layout: Layout) -> Iterator[Pair]:
    lines = read_rows(path, layout)
    head = list(islice(lines, _HEAD))
    columns = list(dict.fromkeys(column for line in head for column in line.row))
    for argument in ("source_column", "summary_column"):
        column = getattr(layout, argument)
        if columns and column not in columns:
            raise ColumnError(path, argument, column, columns)
    for line in chain(head, lines):
        yield _pair(line, layout)


def _pair(line: Line, layout: Layout) -> Pair:
    problem = line.problem or pair_problem(line.row, *layout.text_columns)
    row = {} if problem else line.row
    source, summary = (row.get(column, "") for column in layout.text_columns)
    return Pair(**vars(line) | {"row": row, "problem": problem}, source=source, summary=summary)


def check_text_file(path: Path) -> None:
    """Refuses a table where a file with one text per line is expected (ValueError)."""
    if not is_standard(path) and is_table(path):
        raise ValueError(
            f"Expected a file with one text per line, but {path.name} is a table by its name. Pass a table "
            "without `source_file` and `summary_files`."
        )


def _read_aligned(summary_file: Path, source_file: Path, layout: Layout) -> Iterator[Pair]:
    r"""Pairs of the lines of two text files, as rows with the two columns of the layout.

    Only ``\n`` ends a line, with or without ``\r`` before it; other characters that are line ends
    in Unicode belong to the text. The lines of plain files are counted before the first is given.
    """
    for path in (source_file, summary_file):
        check_text_file(path)
    with opened_text(source_file) as sources, opened_text(summary_file) as summaries:
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
            texts = [line.removesuffix("\n").removesuffix("\r") for line in pair]
            row = dict(zip(layout.text_columns, texts, strict=True))
            problem = _NOT_UTF8 if has_surrogate(*texts) else ""
            size = bytes_of(*texts)
            yield _pair(Line(summary_file, number, row, problem, size, summaries.share), layout)


def _unequal(sources: Path, summaries: Path, difference: str) -> ValueError:
    return ValueError(
        f"Expected {sources.name} and {summaries.name} to have the same number of lines, but "
        f"{difference}. If a text contains a line break, pass JSON Lines with the columns source "
        "and summary."
    )
