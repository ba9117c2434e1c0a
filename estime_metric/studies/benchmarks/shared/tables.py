"""Tables for readers from tidy tables: a row per measure, in sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from estime_metric.report.tables import Cell, Column, Section, Table, interval
from estime_metric.studies.benchmarks.shared.blocks import OWN, PUBLISHED, REFERENCE_FREE, TRIVIAL
from estime_metric.studies.benchmarks.shared.scores import Scores

#: Section -> its title in the tables, in order.
TITLES = {
    REFERENCE_FREE: "Computed in this run",
    TRIVIAL: "Trivial baselines, computed in this run",
    OWN: "From files",
    PUBLISHED: "Published",
}
#: Title of a section -> name of a column of scores -> label of its row, in order.
Labels = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Shown(Column):
    """A column of a table for readers, and what it shows of the rows of a tidy table.

    Attributes:
        key: which row of a measure is shown: its values in the columns of `measure_table`'s ``by``.
        value: the field that is shown.
        ends: in place of ``value``, the fields with the ends of an interval.
    """

    key: tuple[Any, ...] = ()
    value: str = "value"
    ends: tuple[str, str] | None = None

    def cell(self, row: Any) -> Cell:
        """The cell of a row of the tidy table; ``None`` if there is no row."""
        if row is None:
            return None
        if self.ends is not None:
            low, high = self.ends
            return interval(getattr(row, low), getattr(row, high), self.decimals)
        cell: Cell = getattr(row, self.value)
        return cell


def shown_interval(
    *key: Any, group: str = "", of: str = "", name: str = "95% interval", decimals: int = 2
) -> Shown:
    """The column of an interval: of the fields ``low`` and ``high``, or of ``OF_low`` and
    ``OF_high``.
    """
    ends = (f"{of}_low", f"{of}_high") if of else ("low", "high")
    return Shown(name, group, decimals, text=True, key=key, ends=ends)


def labels_of(scores: Scores[Any]) -> Labels:
    """All measures that were requested, also those that failed."""
    return {
        title: {column.name: column.label for column in scores.columns if column.section == section}
        for section, title in TITLES.items()
    }


def labels_in(frame: pd.DataFrame) -> Labels:
    """All measures of a tidy table."""
    measures = frame.drop_duplicates("column")
    return {
        title: dict(measures.loc[measures["section"] == section, ["column", "measure"]].to_numpy())
        for section, title in TITLES.items()
    }


def measure_rows(
    frame: pd.DataFrame, by: Sequence[str], shown: Sequence[Shown], labels: Mapping[str, str]
) -> list[tuple[Cell, ...]]:
    """A row for each label: name of a column of scores -> label. ``by`` are the columns of the tidy
    table that, with ``column``, identify its rows.
    """
    rows = {
        tuple(getattr(row, name) for name in ("column", *by)): row for row in frame.itertuples()
    }
    return [
        (label, *(column.cell(rows.get((name, *column.key))) for column in shown))
        for name, label in labels.items()
    ]


def measure_table(
    name: str,
    title: str,
    frame: pd.DataFrame,
    by: Sequence[str],
    shown: Sequence[Shown],
    labels: Labels,
    notes: Sequence[str],
) -> Table:
    """A table with these columns behind the labels of its rows; sections without labels are
    excluded.
    """
    sections = [
        Section(heading, measure_rows(frame, by, shown, of_section))
        for heading, of_section in labels.items()
        if of_section
    ]
    return Table(name, title, [Column("measure", text=True), *shown], sections, notes)
