"""FRANK's tables for readers: correlations, intervals, differences to the best, and the ablation."""

from __future__ import annotations

from itertools import product

import pandas as pd

from estime_metric.report.tables import Column, Table
from estime_metric.studies.benchmarks.frank.data import ERRORS, Frank
from estime_metric.studies.benchmarks.frank.statistics import (
    ABLATION,
    CORRELATIONS,
    DIFFERENCES,
    PARTS,
    PUBLISHED,
    part_name,
)
from estime_metric.studies.benchmarks.shared.frames import Frames, RowsByKey, lookup
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    ShownColumn,
    TablePart,
    by_section,
    interval_column,
    measure_table,
    section_titles,
)

#: Section -> its title in the tables, in order.
SECTIONS = section_titles(PUBLISHED)
SYMBOLS = {"pearson": "r", "spearman": "ρ"}


def make_tables(scores: Scores[Frank], frames: Frames) -> list[Table]:
    """``frank``, ``frank-plain``, ``frank-intervals``, ``frank-differences`` and
    ``frank-ablation``.
    """
    notes = _notes(scores)
    partial = by_section(scores, SECTIONS, _rows(frames, "partial"))
    plain = by_section(scores, SECTIONS, _rows(frames, "plain"))
    about = f"Pearson's r, Spearman's ρ; {scores.data.origin}, {len(scores.data)} summaries."
    return [
        measure_table(
            "frank",
            f"FRANK: partial correlation with judged factuality, controlling for the system; {about}",
            _correlation_columns(),
            partial,
            notes,
        ),
        measure_table(
            "frank-plain",
            f"FRANK: correlation with judged factuality, controlling for nothing; {about}",
            _correlation_columns(),
            plain,
            notes,
        ),
        measure_table(
            "frank-intervals",
            "FRANK: partial correlations with factuality and their 95% intervals, bootstrap over documents.",
            _interval_columns(),
            partial,
            notes,
        ),
        _differences(scores, frames[DIFFERENCES], notes),
        _ablation(scores, frames[ABLATION], notes),
    ]


def _rows(frames: Frames, kind: str) -> RowsByKey:
    found = frames[CORRELATIONS]
    return lookup(found[found["kind"] == kind], "column", "part", "method")


def _correlation_columns() -> list[ShownColumn]:
    values = [
        ShownColumn(Column(symbol, part_name(part)), (part, method))
        for part, (method, symbol) in product(PARTS, SYMBOLS.items())
    ]
    return [*values, interval_column("all", "pearson", group="r, all")]


def _interval_columns() -> list[ShownColumn]:
    columns = []
    for part, (method, symbol) in product(PARTS, SYMBOLS.items()):
        group = f"{part_name(part)} {symbol}"
        columns.append(ShownColumn(Column("value", group), (part, method)))
        columns.append(interval_column(part, method, group=group))
    return columns


def _differences(scores: Scores[Frank], found: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    shown = []
    for part in PARTS:
        for method, symbol in SYMBOLS.items():
            heading = Column(f"{symbol} less", part_name(part))
            shown.append(ShownColumn(heading, (part, method), "difference"))
        for method, symbol in SYMBOLS.items():
            heading = Column(f"p of {symbol}", part_name(part), decimals=4)
            shown.append(ShownColumn(heading, (part, method), "p_value"))
    labels = {column.name: column.label for column in scores.columns}
    best = sorted(
        f"{part_name(part)}, {SYMBOLS[method]}: {labels[group.iloc[0]]}"
        for (part, method), group in found.groupby(["part", "method"])["best"]
    )
    about = (
        f"The best: {'; '.join(best)}.",
        "p: Williams' test, two-sided, over the summaries that both score. It assumes that summaries are independent, "
        "which summaries of one document are not, and is approximate for ρ.",
    )
    title = "FRANK: how far each measure's partial correlation is behind the best one's, and Williams' test."
    parts = by_section(scores, SECTIONS, lookup(found, "column", "part", "method"))
    return measure_table("frank-differences", title, shown, parts, about + notes)


def _ablation(scores: Scores[Frank], found: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    shown = [
        ShownColumn(Column(ERRORS.get(error, error)), (error,)) for error in scores.data.flipped
    ]
    ordered = {
        column.name: column.label
        for section in SECTIONS
        for column in scores.known
        if column.section == section
    }
    parts = [
        TablePart(part_name(part), lookup(rows, "column", "error"), ordered)
        for part, rows in found.groupby("part", sort=False)
    ]
    about = (
        "Partial Pearson correlation with factuality minus the one with the labels of one type of error flipped: the "
        "higher, the more of the agreement rests on errors of this type. The first three are groups of the next seven."
    )
    title = "FRANK: ablation by type of error."
    return measure_table("frank-ablation", title, shown, parts, (about, *notes))


def _notes(scores: Scores[Frank]) -> tuple[str, ...]:
    data = scores.data
    counts = ", ".join(
        f"{part_name(part)} {data.datasets.count(part)}" for part in PARTS if part != "all"
    )
    return (
        f"Data: {data.origin}, {len(data.documents)} documents; summaries: {counts}. (-): the score is negated, so "
        "that higher is better in every row. Intervals: percentiles of a bootstrap over documents.",
        *scores.gaps,
        *scores.remarks,
    )
