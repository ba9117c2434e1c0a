"""The tables of the study: correlations, intervals, differences to the best, ablation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from estime_metric.studies.frank.analysis import PARTS, Analysis, FrankScores
from estime_metric.studies.frank.data import DATASETS
from estime_metric.studies.shared.scoring import OWN, REFERENCE_FREE, TRIVIAL, Measure
from estime_metric.tables import Cell, Column, Section, Table, interval

#: Section of the metrics whose scores come with the data.
PUBLISHED = "Published metrics, scores from the data"

#: Sections of the tables, in order, each with its title.
SECTIONS = {
    REFERENCE_FREE: "Measured here",
    TRIVIAL: "Trivial, measured here",
    OWN: "From files",
    PUBLISHED: PUBLISHED,
}

SYMBOLS = {"pearson": "r", "spearman": "ρ"}

#: Type of error -> its heading: the groups of the typology, then its types.
ERROR_NAMES = {
    "Semantic_Frame_Errors": "semantic frame",
    "Discourse_Errors": "discourse",
    "Content_Verifiability_Errors": "verifiability",
    "RelE": "relation",
    "EntE": "entity",
    "CircE": "circumstance",
    "OutE": "out of article",
    "GramE": "grammar",
    "CorefE": "coreference",
    "LinkE": "link",
    "Other": "other",
}


def tables(scores: FrankScores, found: Analysis) -> dict[str, Table]:
    """Tables by name: ``frank``, ``frank-plain``, ``frank-intervals``, ``frank-differences``, ``frank-ablation``."""
    made = (
        _correlations(scores, found, "partial"),
        _correlations(scores, found, "plain"),
        _intervals(scores, found),
        _differences(scores, found),
        _ablation(scores, found),
    )
    return {table.name: table for table in made}


def part_name(part: str) -> str:
    """A part as readers know it: ``all``, ``CNN/DailyMail``, ``XSum``."""
    return DATASETS.get(part, part)


def _correlations(scores: FrankScores, found: Analysis, kind: str) -> Table:
    columns = [Column("measure", text=True)]
    columns += [Column(symbol, group=part_name(part)) for part in PARTS for symbol in SYMBOLS.values()]
    columns.append(Column("95% interval", group="r, all", text=True))
    cells = _indexed(found.correlations[found.correlations["kind"] == kind], ("part", "method"))

    def row(measure: Measure) -> list[Cell]:
        values: list[Cell] = [cells[measure.column, part, method].value for part in PARTS for method in SYMBOLS]
        first = cells[measure.column, "all", "pearson"]
        return [*values, interval(first.low, first.high)]

    held = ", the system held constant (partial correlation)" if kind == "partial" else ", nothing held constant"
    return Table(
        "frank" if kind == "partial" else "frank-plain",
        f"FRANK: correlation with judged factuality{held}; Pearson's r, Spearman's ρ; {scores.data.origin}, "
        f"{len(scores.data)} summaries.",
        tuple(columns),
        _sections(scores, row, len(columns) - 1),
        _notes(scores),
    )


def _intervals(scores: FrankScores, found: Analysis) -> Table:
    columns = [Column("measure", text=True)]
    for part in PARTS:
        for symbol in SYMBOLS.values():
            group = f"{part_name(part)} {symbol}"
            columns += [Column("value", group=group), Column("95% interval", group=group, text=True)]
    cells = _indexed(found.correlations[found.correlations["kind"] == "partial"], ("part", "method"))

    def row(measure: Measure) -> list[Cell]:
        values: list[Cell] = []
        for part in PARTS:
            for method in SYMBOLS:
                cell = cells[measure.column, part, method]
                values += [cell.value, interval(cell.low, cell.high)]
        return values

    title = "FRANK: partial correlations with factuality and their 95% intervals, bootstrap over documents."
    return Table("frank-intervals", title, tuple(columns), _sections(scores, row, len(columns) - 1), _notes(scores))


def _differences(scores: FrankScores, found: Analysis) -> Table:
    columns = [Column("measure", text=True)]
    for part in PARTS:
        columns += [Column(f"{symbol} less", group=part_name(part)) for symbol in SYMBOLS.values()]
        columns += [Column(f"p of {symbol}", group=part_name(part), decimals=4) for symbol in SYMBOLS.values()]
    cells = _indexed(found.differences, ("part", "method"))
    labels = {measure.column: measure.label for measure in scores.measures}
    best = {
        f"{part_name(part)}, {SYMBOLS[method]}: {labels[group.iloc[0]]}"
        for (part, method), group in found.differences.groupby(["part", "method"])["best"]
    }

    def row(measure: Measure) -> list[Cell]:
        values: list[Cell] = []
        for part in PARTS:
            both = [cells.get((measure.column, part, method)) for method in SYMBOLS]
            values += [None if cell is None else cell.difference for cell in both]
            values += [None if cell is None else cell.p_value for cell in both]
        return values

    notes = (
        f"The best: {'; '.join(sorted(best))}.",
        "p: Williams' test, two-sided, over the summaries that both score. It takes summaries as independent, which "
        "those of one document are not, and is approximate for ρ.",
        *_notes(scores),
    )
    title = "FRANK: how far each measure's partial correlation is behind the best one's, and Williams' test."
    return Table("frank-differences", title, tuple(columns), _sections(scores, row, len(columns) - 1), notes)


def _ablation(scores: FrankScores, found: Analysis) -> Table:
    errors = list(scores.data.flipped)
    columns = [Column("measure", text=True), *(Column(ERROR_NAMES.get(error, error)) for error in errors)]
    cells = _indexed(found.ablation, ("part", "error"))
    sections = []
    for part in PARTS:
        rows = tuple(
            (measure.label, *(cells[measure.column, part, error].value for error in errors))
            for section in SECTIONS
            for measure in scores.measures
            if measure.section == section and measure.column in scores.values
        )
        sections.append(Section(part_name(part), rows))
    notes = (
        "Partial Pearson correlation with factuality less that with the labels of one type of error flipped: the "
        "higher, the more of the agreement rests on errors of this type. The first three are groups of the next seven.",
        *_notes(scores),
    )
    title = "FRANK: ablation by type of error."
    return Table("frank-ablation", title, tuple(columns), tuple(sections), notes)


def _indexed(frame: pd.DataFrame, names: tuple[str, str]) -> Mapping[tuple[str, str, str], pd.Series]:
    return {(row.column, getattr(row, names[0]), getattr(row, names[1])): row for row in frame.itertuples()}


def _sections(scores: FrankScores, row: Callable[[Measure], list[Cell]], width: int) -> tuple[Section, ...]:
    """The measures in their sections; those that could not be computed without numbers."""
    sections = []
    for section, title in SECTIONS.items():
        rows = tuple(
            (measure.label, *(row(measure) if measure.column in scores.values else [None] * width))
            for measure in scores.measures
            if measure.section == section
        )
        if rows:
            sections.append(Section(title, rows))
    return tuple(sections)


def _notes(scores: FrankScores) -> tuple[str, ...]:
    counts = {part: sum(one == part for one in scores.data.datasets) for part in DATASETS}
    missing = {
        measure.label: int((scores.values[measure.column] != scores.values[measure.column]).sum())
        for measure in scores.measures
        if measure.column in scores.values
    }
    gaps = ", ".join(f"{label} {number}" for label, number in missing.items() if number)
    return (
        f"Data: {scores.data.origin}, {len(scores.data.documents)} documents; summaries: "
        f"{', '.join(f'{part_name(part)} {number}' for part, number in counts.items())}. (-): the score is negated, so "
        "that higher is better in every row. Intervals: percentiles of a bootstrap over documents.",
        *([f"Summaries without a score, left out of that row: {gaps}."] if gaps else []),
        *(note for notes in scores.notes.values() for note in notes),
        *(f"{name}: {signature}" for name, signature in scores.signatures.items()),
        *(f"{name}: failed. {reason}" for name, reason in scores.problems.items()),
    )
