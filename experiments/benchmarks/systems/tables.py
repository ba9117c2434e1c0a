"""Tables for readers: significant differences with people's order, by the ratio of copying, and pairs
that the measures order as people do.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    measure_cells,
    measure_rows,
    with_interval_texts,
)
from estime_metric.studies.tables import Column, Section, Table
from experiments.benchmarks.systems.data import CHOOSING, DATA_SETS, REPORTING
from experiments.benchmarks.systems.statistics import ALL, BANDS, MEASURES
from experiments.benchmarks.tables import measure_table

#: With up to this number of pairs of systems, intervals say too little for tables for readers.
FEW_PAIRS = 10


def make_tables(scores: Scores[Summaries], frames: Frames) -> list[Table]:
    """``systems``, ``systems-choosing`` and ``systems-reporting`` (significant differences with
    people's order, on all documents or those of a part), and ``systems-order`` (pairs ordered as
    people do, and Kendall's tau, on the documents for reporting).
    """
    frame = frames[MEASURES]
    return [
        _agreement(scores, frame, ALL, "systems", "all documents"),
        _agreement(scores, frame, CHOOSING, "systems-choosing", "documents for choosing"),
        _agreement(scores, frame, REPORTING, "systems-reporting", "documents for reporting"),
        _order(scores, frame[(frame["part"] == REPORTING) & (frame["band"] == ALL)]),
    ]


def _agreement(
    scores: Scores[Summaries], frame: pd.DataFrame, part: str, name: str, documents: str
) -> Table:
    """A section for each dataset, a row for each measure that scores it, a column for each band."""
    shown = {
        ("right_of", ALL): Column("right", "all pairs", text=True),
        ("share_interval", ALL): Column("95%, documents", "all pairs", text=True),
        ("share_systems_interval", ALL): Column("95%, systems", "all pairs", text=True),
        **{
            ("right_of", band): Column(band, "right, by ratio of copying", text=True)
            for band in BANDS
            if band != ALL
        },
    }
    part_frame = frame[frame["part"] == part]
    texts = with_interval_texts(part_frame, "share", "share_systems").assign(
        right_of=_of(part_frame["right"], part_frame["significant"])
    )
    few = texts["pairs"] <= FEW_PAIRS
    texts.loc[few, ["share_interval", "share_systems_interval"]] = ""
    labels = {column.name: column.label for column in scores.columns}
    sections = []
    for data, data_texts in texts.groupby("data", sort=False):
        cells = measure_cells(data_texts, ["band"], shown)
        known = {column: labels[column] for column in labels if column in cells.index}
        sections.append(Section(str(data), measure_rows(cells, known)))
    title = f"Significant differences between two systems that have people's order, {documents}."
    return Table(
        name, title, [Column("measure", text=True), *shown.values()], sections, _notes(scores)
    )


def _order(scores: Scores[Summaries], frame: pd.DataFrame) -> Table:
    shown = {}
    for data in DATA_SETS:
        if (frame["data"] == data).any():
            shown["ordered_of", data] = Column("ordered", data, text=True)
            shown["tau", data] = Column("τ", data)
    return measure_table(
        "systems-order",
        "Pairs that people separate significantly and the measure orders as people do, and Kendall's τ-b of the "
        "systems' means, documents for reporting.",
        scores,
        frame.assign(ordered_of=_of(frame["ordered"], frame["separated"])),
        ["data"],
        shown,
        _notes(scores),
    )


def _of(part: Any, whole: Any) -> list[str]:
    return [f"{count} of {other}" for count, other in zip(part, whole, strict=True)]


def _notes(scores: Scores[Summaries]) -> tuple[str, ...]:
    table = scores.data.table
    counts = table.groupby("data", sort=False)["system"].nunique()
    return (
        f"Data: {scores.data.origin}; systems: {', '.join(f'{data} {n}' for data, n in counts.items())}. (-): the score "
        "is negated, so that higher is better in every row. Test: approximate randomization, whole sources swapped, p "
        "below .05 after Holm's correction for the pairs of systems. Right: people's mean judgement over the same "
        "documents is higher for the better system.",
        "Ratio of copying: mean `copied_density` of the system that copies more, divided by the other one's.",
        "Intervals: percentiles of a bootstrap over documents, with the test's normal approximation, and over systems. "
        "The pairs of 16 systems are not independent. With few systems, intervals say little; only measures.csv has "
        "them.",
        "Published metrics have scores of FRANK alone.",
        *scores.remarks,
    )
