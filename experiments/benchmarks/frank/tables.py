"""FRANK's tables for readers: correlations, intervals, differences to the best, and the ablation."""

from __future__ import annotations

from itertools import product

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    Shown,
    measure_cells,
    measure_rows,
    with_interval_texts,
)
from estime_metric.studies.tables import Column, Section, Table
from experiments.benchmarks.frank.data import DATASETS, ERRORS, FLIP
from experiments.benchmarks.frank.statistics import (
    ABLATION,
    CORRELATIONS,
    DIFFERENCES,
    PARTS,
    part_name,
)
from experiments.benchmarks.tables import measure_table

SYMBOLS = {"pearson": "r", "spearman": "ρ"}
_BY = ("part", "method")


def make_tables(scores: Scores[Summaries], frames: Frames) -> list[Table]:
    """``frank``, ``frank-plain``, ``frank-intervals``, ``frank-differences`` and
    ``frank-ablation``.
    """
    notes = _notes(scores)
    correlations = with_interval_texts(frames[CORRELATIONS], "value")
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
        measure_table("frank", title, scores, partial, _BY, values, notes),
        measure_table("frank-plain", title_plain, scores, plain, _BY, values, notes),
        measure_table("frank-intervals", title_intervals, scores, partial, _BY, intervals, notes),
        _differences(scores, frames[DIFFERENCES], notes),
        _ablation(scores, frames[ABLATION], notes),
    ]


def _correlation_columns() -> Shown:
    values = {
        ("value", part, method): Column(symbol, part_name(part))
        for part, (method, symbol) in product(PARTS, SYMBOLS.items())
    }
    interval = {("value_interval", "all", "pearson"): Column("95% interval", "r, all", text=True)}
    return {**values, **interval}


def _interval_columns() -> Shown:
    columns = {}
    for part, (method, symbol) in product(PARTS, SYMBOLS.items()):
        group = f"{part_name(part)} {symbol}"
        columns["value", part, method] = Column("value", group)
        columns["value_interval", part, method] = Column("95% interval", group, text=True)
    return columns


def _differences(scores: Scores[Summaries], frame: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    fields = (("difference", "{} less", 3), ("p_value", "p of {}", 4))
    shown = {
        (value, part, method): Column(heading.format(symbol), part_name(part), decimals)
        for part, (value, heading, decimals), (method, symbol) in product(
            PARTS, fields, SYMBOLS.items()
        )
    }
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
    return measure_table("frank-differences", title, scores, frame, _BY, shown, about + notes)


def _ablation(scores: Scores[Summaries], frame: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    errors = [name.removeprefix(FLIP) for name in scores.data.table if name.startswith(FLIP)]
    shown = {("value", error): Column(ERRORS.get(error, error)) for error in errors}
    labels = {column.name: column.label for column in scores.known}
    sections = []
    for part, part_frame in frame.groupby("part", sort=False):
        cells = measure_cells(part_frame, ["error"], shown)
        sections.append(Section(part_name(part), measure_rows(cells, labels)))
    about = (
        "Partial Pearson correlation with factuality minus the one with the labels of one type of error flipped: the "
        "higher, the more of the agreement rests on errors of this type. The first three are groups of the next seven."
    )
    title = "FRANK: ablation by type of error."
    columns = [Column("measure", text=True), *shown.values()]
    return Table("frank-ablation", title, columns, sections, (about, *notes))


def _notes(scores: Scores[Summaries]) -> tuple[str, ...]:
    data = scores.data
    counts = ", ".join(
        f"{name} {(data.table['dataset'] == part).sum()}" for part, name in DATASETS.items()
    )
    return (
        f"Data: {data.origin}, {len(data.documents)} documents; summaries: {counts}. (-): the score is negated, so "
        "that higher is better in every row. Intervals: percentiles of a bootstrap over documents.",
        *scores.gaps,
        *scores.remarks,
    )
