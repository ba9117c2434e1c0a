"""Tables for readers from tidy tables: a row per measure, in sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from estime_metric.report.tables import Cell, Column, Section, Table, interval
from estime_metric.studies.benchmarks.shared.blocks import OWN, REFERENCE_FREE, TRIVIAL
from estime_metric.studies.benchmarks.shared.frames import RowsByKey
from estime_metric.studies.benchmarks.shared.scores import Scores


@dataclass(frozen=True)
class ShownColumn:
    """A column of a table for readers.

    Attributes:
        column: its heading.
        key: what follows the measure's name in the key of `frames.lookup`.
        value: the field of that row that is shown.
        ends: in place of ``value``, the fields with the ends of an interval.
    """

    column: Column
    key: tuple[Any, ...] = ()
    value: str = "value"
    ends: tuple[str, str] | None = None

    def cell(self, rows: RowsByKey, measure: str) -> Cell:
        """The cell of a measure, given by the name of its column of scores; ``None`` if it does not
        have that row.
        """
        row = rows.get((measure, *self.key))
        if row is None:
            return None
        if self.ends is not None:
            low, high = self.ends
            return interval(getattr(row, low), getattr(row, high), self.column.decimals)
        cell: Cell = getattr(row, self.value)
        return cell


def interval_column(
    *key: Any, group: str = "", of: str = "", name: str = "95% interval", decimals: int = 2
) -> ShownColumn:
    """The column of an interval: of the fields ``low`` and ``high``, or of ``OF_low`` and
    ``OF_high``.
    """
    ends = (f"{of}_low", f"{of}_high") if of else ("low", "high")
    return ShownColumn(Column(name, group, decimals, text=True), key, ends=ends)


@dataclass(frozen=True)
class TablePart:
    """Rows of a table for readers that belong together.

    Attributes:
        title: above them.
        rows: the rows of a tidy table, by the name of a measure's column and further values.
        labels: name of a measure's column -> label of its row, in order.
    """

    title: str
    rows: RowsByKey
    labels: Mapping[str, str]


def section_titles(*published: str) -> dict[str, str]:
    """The titles of the sections in a benchmark's tables, in order; ``published`` are sections of
    numbers from elsewhere, whose names are their titles.
    """
    return {
        REFERENCE_FREE: "Computed in this run",
        TRIVIAL: "Trivial baselines, computed in this run",
        OWN: "From files",
        **{section: section for section in published},
    }


def by_section(scores: Scores[Any], titles: Mapping[str, str], rows: RowsByKey) -> list[TablePart]:
    """The parts of a table of all measures, also of those that failed: section -> title."""
    return [
        TablePart(
            title, rows, {one.name: one.label for one in scores.columns if one.section == section}
        )
        for section, title in titles.items()
    ]


def measure_table(
    name: str,
    title: str,
    shown: Sequence[ShownColumn],
    parts: Iterable[TablePart],
    notes: Sequence[str],
    first: str = "measure",
) -> Table:
    """A table with these columns behind the labels of its rows, under ``first``; parts without rows
    are excluded.
    """
    sections = [
        Section(
            part.title,
            [
                (label, *(column.cell(part.rows, measure) for column in shown))
                for measure, label in part.labels.items()
            ],
        )
        for part in parts
        if part.labels
    ]
    columns = [Column(first, text=True), *(one.column for one in shown)]
    return Table(name, title, columns, sections, notes)
