"""Lines of tables -> pairs of a source and a summary, and chunks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, zip_longest
from pathlib import Path

from estime_metric.checks import has_words
from estime_metric.files.formats import read_rows
from estime_metric.files.layout import TABLES, Layout
from estime_metric.files.lines import Line, Row
from estime_metric.files.streams import is_decoded, opened_text

_HEAD = 100  # lines in which the columns are looked for before the rest is read


class ColumnError(ValueError):
    """A table lacks a column of texts, which ``argument`` names."""

    def __init__(self, path: Path, argument: str, column: str, columns: list[str]) -> None:
        super().__init__(
            f"Expected a column {column!r} in {path.name}, but its columns are "
            f"{', '.join(columns)}. Name the right one with `{argument}`."
        )


def read_lines(path: Path, layout: Layout = TABLES) -> Iterator[Line]:
    """The lines of a file as `read_rows` gives them; those without two texts have a problem.

    Raises:
        ColumnError: a table lacks a column of texts.
        ValueError: text files differ in their number of lines; else as `read_rows`.
    """
    if layout.source_file is not None:
        return _read_aligned(path, layout.source_file, layout)
    return _read_table(path, layout)


def _read_table(path: Path, layout: Layout) -> Iterator[Line]:
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


def pair_problem(row: Row, source_column: str, summary_column: str) -> str:
    """What keeps a row from being scored, as the end of a sentence; empty if nothing does.

    An empty summary is a blank summary, which is scored; a source without words is a problem.
    """
    problem = text_problem(row, source_column) or text_problem(row, summary_column)
    if problem:
        return problem
    return "" if has_words(row[source_column]) else f"column {source_column!r} has no words"


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


def _read_aligned(summary_file: Path, source_file: Path, layout: Layout) -> Iterator[Line]:
    r"""Pairs of the lines of two text files, as rows with the two columns of the layout.

    Only ``\n`` ends a line, with or without ``\r`` before it; other characters that are line ends
    in Unicode belong to the text.
    """
    with (
        opened_text(source_file, newline="\n") as sources,
        opened_text(summary_file, newline="\n") as summaries,
    ):
        for number, pair in enumerate(zip_longest(sources, summaries), start=1):
            if None in pair:
                difference = f"one of them ends before line {number}"
                raise _unequal(source_file, summary_file, difference)
            source, summary = (line.removesuffix("\n").removesuffix("\r") for line in pair)
            row = {layout.source_column: source, layout.summary_column: summary}
            if is_decoded(source + summary):
                problem = pair_problem(row, *layout.text_columns)
            else:
                problem = "is not UTF-8; convert the file, for example with iconv"
            yield Line(summary_file, number, {} if problem else row, problem, summaries.share)


def check_aligned(path: Path, layout: Layout) -> None:
    """Refuses a text file that has another number of lines than the sources (ValueError).

    What is not a plain file can be read only once, so it is not checked before.
    """
    sources = layout.source_file
    if sources is None or not (path.is_file() and sources.is_file()):
        return
    counts = []
    for file in (sources, path):
        with opened_text(file, newline="\n") as lines:
            counts.append(sum(1 for _ in lines))
    if counts[0] != counts[1]:
        raise _unequal(sources, path, f"got {counts[0]} and {counts[1]}")


def _unequal(sources: Path, summaries: Path, difference: str) -> ValueError:
    return ValueError(
        f"Expected {sources.name} and {summaries.name} to have the same number of lines, but "
        f"{difference}. If a text contains a line break, pass JSON Lines with the columns source "
        "and summary."
    )


@dataclass
class Pairs:
    """Pairs of texts, in their order.

    Attributes:
        lines: the number of the line of each pair, see `Line`.
        sources, summaries: the texts of each pair.
        others: the further columns of each pair.
        problems: a sentence for each line without a pair.
    """

    lines: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, line: int, source: str, summary: str, others: Row) -> None:
        """Appends a pair."""
        self.lines.append(line)
        self.sources.append(source)
        self.summaries.append(summary)
        self.others.append(others)

    def add_row(self, line: Line, layout: Layout) -> None:
        """Appends the pair of a line, or its problem."""
        if line.problem:
            self.problems.append(f"line {line.number}: {line.problem}")
            return
        self.add(
            line=line.number,
            source=line.row[layout.source_column],
            summary=line.row[layout.summary_column],
            others=other_columns(line.row, layout),
        )

    def select(self, indices: Iterable[int]) -> Pairs:
        """Some of the pairs, in the order of ``indices``, without the problems."""
        chosen = Pairs()
        for index in indices:
            chosen.add(
                line=self.lines[index],
                source=self.sources[index],
                summary=self.summaries[index],
                others=self.others[index],
            )
        return chosen


def read_pairs(path: Path, layout: Layout = TABLES) -> Pairs:
    """All pairs of a file; a line without a pair is a problem. Raises as `read_lines`."""
    check_aligned(path, layout)
    pairs = Pairs()
    for line in read_lines(path, layout):
        pairs.add_row(line, layout)
    return pairs


def other_columns(row: Row, layout: Layout) -> Row:
    """A row without the two texts."""
    return {name: value for name, value in row.items() if name not in layout.text_columns}


def cut(
    lines: Iterable[Line], layout: Layout, *, most_pairs: int, most_bytes: int
) -> Iterator[Sequence[Line]]:
    """Lines in chunks, each as long as possible: at most ``most_pairs`` pairs or ``most_bytes``
    bytes of text, with identical sources counted once. The boundaries depend on the lines alone.

    While the source is the same, a chunk continues to twice either limit; if a source alone is
    larger than ``most_bytes``, until its summaries are as large as it is. Lines with a problem end
    no chunk; the last chunk may have nothing else.
    """
    chunk: list[Line] = []
    sources: set[str] = set()
    pairs, size, last = 0, 0, ""
    for line in lines:
        if not line.problem:
            source, summary = (line.row[column] for column in layout.text_columns)
            bytes_of_source = len(source.encode())
            is_full = pairs >= most_pairs or size >= most_bytes
            is_overfull = pairs >= 2 * most_pairs or size >= 2 * max(most_bytes, bytes_of_source)
            if is_full and (source != last or is_overfull):
                yield chunk
                chunk, sources, pairs, size = [], set(), 0, 0
            pairs += 1
            size += len(summary.encode()) + (0 if source in sources else bytes_of_source)
            sources.add(source)
            last = source
        chunk.append(line)
    if chunk:
        yield chunk
