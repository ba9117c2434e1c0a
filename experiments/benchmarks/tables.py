"""Tables for readers from tidy tables: a row per measure, in sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import OWN, PUBLISHED, REFERENCE_FREE, TRIVIAL
from estime_metric.studies.benchmarks.shared.frames import IDS, ids_of
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import Shown, measure_cells, measure_rows
from estime_metric.studies.tables import Column, Section, Table

#: Section -> its title in the tables, in order.
TITLES = {
    REFERENCE_FREE: "Computed in this run",
    TRIVIAL: "Trivial baselines, computed in this run",
    OWN: "From files",
    PUBLISHED: "Published",
}


def measure_table(
    name: str,
    title: str,
    scores: Scores[Any],
    frame: pd.DataFrame,
    by: Sequence[str],
    shown: Shown,
    notes: Sequence[str],
) -> Table:
    """A table with a section for each of `TITLES` that has measures: all measures that were requested,
    also those that failed, and measures that only the tidy table has, such as published ones.

    ``by`` are the columns of the tidy table that, with ``column``, identify its rows.
    """
    requested = pd.DataFrame([ids_of(column) for column in scores.columns], columns=IDS)
    measures = pd.concat([requested, frame[IDS]]).drop_duplicates("column").set_index("column")
    cells = measure_cells(frame, by, shown)
    sections = []
    for section, heading in TITLES.items():
        labels = measures.loc[measures["section"] == section, "measure"].to_dict()
        if labels:
            sections.append(Section(heading, measure_rows(cells, labels)))
    return Table(name, title, [Column("measure", text=True), *shown.values()], sections, notes)
