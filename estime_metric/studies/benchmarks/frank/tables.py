"""FRANK's tables for readers: correlations, intervals, differences to the best, and the ablation."""

from __future__ import annotations

from itertools import product

import pandas as pd

from estime_metric.report.tables import Column, Section, Table
from estime_metric.studies.benchmarks.frank.data import ERRORS, Frank
from estime_metric.studies.benchmarks.frank.statistics import (
    ABLATION,
    CORRELATIONS,
    DIFFERENCES,
    PARTS,
    part_name,
)
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    TITLES,
    Shown,
    labels_of,
    measure_rows,
    measure_table,
    shown_interval,
)

SYMBOLS = {"pearson": "r", "spearman": "ρ"}
_BY = ("part", "method")


def make_tables(scores: Scores[Frank], frames: Frames) -> list[Table]:
    """``frank``, ``frank-plain``, ``frank-intervals``, ``frank-differences`` and
    ``frank-ablation``.
    """
    notes, labels = _notes(scores), labels_of(scores)
    correlations = frames[CORRELATIONS]
    partial = correlations[correlations["kind"] == "partial"]
    plain = correlations[correlations["kind"] == "plain"]
    values, intervals = _correlation_columns(), _interval_columns()
    about = f"Pearson's r, Spearman's ρ; {scores.data.origin}, {len(scores.data)} summaries."
    title = (
        f"FRANK: partial correlation with judged factuality, controlling for the system; {about}"
    )
    title_plain = f"FRANK: correlation with judged factuality, controlling for nothing; {about}"
    title_intervals = "FRANK: partial correlations with factuality and their 95% intervals, bootstrap over documents."
    return [
        measure_table("frank", title, partial, _BY, values, labels, notes),
        measure_table("frank-plain", title_plain, plain, _BY, values, labels, notes),
        measure_table("frank-intervals", title_intervals, partial, _BY, intervals, labels, notes),
        _differences(scores, frames[DIFFERENCES], notes),
        _ablation(scores, frames[ABLATION], notes),
    ]


def _correlation_columns() -> list[Shown]:
    values = [
        Shown(symbol, part_name(part), key=(part, method))
        for part, (method, symbol) in product(PARTS, SYMBOLS.items())
    ]
    return [*values, shown_interval("all", "pearson", group="r, all")]


def _interval_columns() -> list[Shown]:
    columns = []
    for part, (method, symbol) in product(PARTS, SYMBOLS.items()):
        group = f"{part_name(part)} {symbol}"
        columns.append(Shown("value", group, key=(part, method)))
        columns.append(shown_interval(part, method, group=group))
    return columns


def _differences(scores: Scores[Frank], frame: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    shown = []
    for part, (value, heading, decimals) in product(
        PARTS, (("difference", "{} less", 3), ("p_value", "p of {}", 4))
    ):
        for method, symbol in SYMBOLS.items():
            name = heading.format(symbol)
            shown.append(Shown(name, part_name(part), decimals, key=(part, method), value=value))
    labels = {column.name: column.label for column in scores.columns}
    best = sorted(
        f"{part_name(part)}, {SYMBOLS[method]}: {labels[group.iloc[0]]}"
        for (part, method), group in frame.groupby(["part", "method"])["best"]
    )
    about = (
        f"The best: {'; '.join(best)}.",
        "p: Williams' test, two-sided, over the summaries that both score. It assumes that summaries are independent, "
        "which summaries of one document are not, and is approximate for ρ.",
    )
    title = "FRANK: how far each measure's partial correlation is behind the best one's, and Williams' test."
    return measure_table(
        "frank-differences", title, frame, _BY, shown, labels_of(scores), about + notes
    )


def _ablation(scores: Scores[Frank], frame: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    shown = [Shown(ERRORS.get(error, error), key=(error,)) for error in scores.data.flipped]
    ordered = {
        column.name: column.label
        for section in TITLES
        for column in scores.known
        if column.section == section
    }
    sections = [
        Section(part_name(part), measure_rows(rows, ["error"], shown, ordered))
        for part, rows in frame.groupby("part", sort=False)
    ]
    about = (
        "Partial Pearson correlation with factuality minus the one with the labels of one type of error flipped: the "
        "higher, the more of the agreement rests on errors of this type. The first three are groups of the next seven."
    )
    title = "FRANK: ablation by type of error."
    columns = [Column("measure", text=True), *shown]
    return Table("frank-ablation", title, columns, sections, (about, *notes))


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
