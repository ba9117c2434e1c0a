"""Rows of a table -> pairs of a source and a summary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from estime_metric.files.reading import Numbered, Row, read_rows, readable_format

_HEAD = 100  # rows in which the columns are looked for before the rest is read


@dataclass
class Pairs:
    """Pairs read from a table."""

    lines: list[int] = field(default_factory=list)  # as `read_rows` counts
    sources: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)  # further columns of each pair
    problems: list[str] = field(
        default_factory=list
    )  # a sentence for each invalid row, with its line
    size: int = field(
        default=0, compare=False
    )  # bytes of the texts that `add` has added, each source counted once
    _known: set[str] = field(default_factory=set, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, line: int, source: str, summary: str, others: Row) -> None:
        """Appends a pair."""
        self.lines.append(line)
        self.sources.append(source)
        self.summaries.append(summary)
        self.others.append(others)
        self.size += len(summary.encode()) + (0 if source in self._known else len(source.encode()))
        self._known.add(source)

    def ends_before(self, source: str, pairs: int, size: int) -> bool:
        """Whether a chunk ends before a pair of ``source``: at so many ``pairs``, or texts of
        ``size`` bytes.

        While the source is the same, it continues to twice of either; if a source alone is larger
        than ``size``, until its summaries are as large as it is.
        """
        if len(self) < pairs and self.size < size:
            return False
        last = self.sources[-1]
        return (
            source != last
            or len(self) >= 2 * pairs
            or self.size >= 2 * max(size, len(last.encode()))
        )

    def chunks(self, size: int) -> Iterator[Pairs]:
        """The pairs in their order, ``size`` at a time, without the problems."""
        for start in range(0, len(self), size):
            some = slice(start, start + size)
            yield Pairs(
                self.lines[some], self.sources[some], self.summaries[some], self.others[some]
            )


def read_pairs(path: Path, source_column: str, summary_column: str) -> Pairs:
    """Reads all pairs of a table; a bad row is noted, not fatal. Errors as for `iterate_pairs`."""
    pairs = Pairs()
    for line, row in iterate_pairs(path, source_column, summary_column):
        if isinstance(row, str):
            pairs.problems.append(f"line {line}: {row}")
        else:
            others = {
                name: value
                for name, value in row.items()
                if name not in (source_column, summary_column)
            }
            pairs.add(line, row[source_column], row[summary_column], others)
    return pairs


def iterate_pairs(path: Path, source_column: str, summary_column: str) -> Iterator[Numbered]:
    """As `read_rows`, but rows whose two texts are not texts are invalid too; ValueError where a
    column is missing.
    """
    # A cell of CSV cannot say "nothing" but by being empty, as pandas writes a missing value.
    empty_is_missing = readable_format(path) in (".csv", ".tsv")
    rows = read_rows(path)
    head = list(islice(rows, _HEAD))
    found = dict.fromkeys(column for _, row in head if isinstance(row, dict) for column in row)
    for column in (source_column, summary_column):
        if found and column not in found:
            raise ValueError(
                f"Expected a column {column!r} in {path.name}, but its columns are {', '.join(found)}: "
                f"name the right one with {'--source-column' if column == source_column else '--summary-column'}."
            )
    for line, row in chain(head, rows):
        if isinstance(row, dict):
            row = pair_problem(row, source_column, summary_column, empty_is_missing) or row
        yield line, row


def pair_problem(
    row: Row, source_column: str, summary_column: str, empty_is_missing: bool = False
) -> str | None:
    """What is wrong with a row; ``None`` if it holds a pair of texts."""
    for column in (source_column, summary_column):
        if column not in row:
            return f"has no column {column!r} (columns: {', '.join(row) or 'none'})"
        text = row[column]
        if empty_is_missing and text == "":
            return f"column {column!r} is empty, as a missing value is"
        if not isinstance(text, str):
            came = "nothing" if text is None else type(text).__name__
            return f"column {column!r} should hold a text, but holds {came}"
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            return f"column {column!r} holds a lone surrogate, which is no character"
    return None
