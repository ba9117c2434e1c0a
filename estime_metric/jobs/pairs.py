"""Pairs of texts, and chunks of lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from estime_metric.table.rows import Layout, Line, Row, other_columns
from estime_metric.table.table import LINE


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


def rows_with(pairs: Pairs, columns: Mapping[str, Sequence[Any]], prefix: str = "") -> list[Row]:
    """One row per pair: its line, its further columns, and the values of ``columns``; the names of
    the added columns begin with ``prefix``.
    """
    return [
        {
            f"{prefix}{LINE}": line,
            **others,
            **{f"{prefix}{name}": values[index] for name, values in columns.items()},
        }
        for index, (line, others) in enumerate(zip(pairs.lines, pairs.others, strict=True))
    ]
