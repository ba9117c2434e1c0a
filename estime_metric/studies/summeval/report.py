"""Scores -> correlations with intervals -> the paper's Tables 1 and 2, ours beside the printed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from estime_metric.meta.grid import Grid
from estime_metric.meta.resampling import bootstrap
from estime_metric.studies.shared import estime_paper
from estime_metric.studies.shared.estime_paper import QUALITIES, Printed
from estime_metric.studies.shared.scoring import OWN, REFERENCE_BASED, REFERENCE_FREE, SECTIONS, Measure, Scores
from estime_metric.studies.summeval.data import Floats, SummEval
from estime_metric.tables import Cell, Column, Section, Table, interval

#: What is computed: the paper's two levels and two statistics, and Pearson's r.
LEVELS = ("summary", "system")
METHODS = ("spearman", "kendall_c", "pearson")
SYMBOLS = {"spearman": "ρ", "kendall_c": "τ", "pearson": "r"}

#: Where a row comes from.
HERE, PAPER, FILE, FAILED = "here", "paper", "file", "failed"

#: Rows of the paper, by section.
PRINTED = {REFERENCE_FREE: estime_paper.REFERENCE_FREE, REFERENCE_BASED: estime_paper.REFERENCE_BASED}

#: The paper's row before which ESTIME with another layer stands.
FIRST_ESTIME = "(-)ESTIME-12"

SummEvalScores = Scores[SummEval]

#: The row of a measure among correlations, see `correlations`.
Row = dict[tuple[str, str, str], tuple[float, float, float]]


def correlations(
    scores: SummEvalScores, *, resamples: int = 1000, seed: int = 0, advance: Callable[[], object] | None = None
) -> pd.DataFrame:
    """How well each measure agrees with each quality, with 95% intervals of a bootstrap over documents.

    Args:
        scores: what was measured; a measure that could not be computed is left out.
        resamples: how many; the same documents are drawn for every measure.
        seed: of the random numbers.
        advance: called after each measure.

    Returns:
        tidy: ``column``, ``measure`` (its label), ``section``, ``quality``, ``level``, ``method``, ``value``, ``low``,
        ``high``, and ``undefined``, the resamples without a value. A value is NaN where all scores or all judgements
        are equal.
    """
    frames = []
    for measure in scores.measures:
        if measure.column in scores.values:
            frames += [
                bootstrap(
                    grid(scores, measure, quality),
                    levels=LEVELS,
                    methods=METHODS,
                    resample="documents",
                    n=resamples,
                    seed=seed,
                ).assign(column=measure.column, measure=measure.label, section=measure.section, quality=quality)
                for quality in QUALITIES
            ]
        if advance is not None:
            advance()
    columns = ["column", "measure", "section", "quality", "level", "method", "value", "low", "high", "undefined"]
    return pd.concat(frames)[columns].reset_index(drop=True) if frames else pd.DataFrame(columns=columns)


def grid(scores: SummEvalScores, measure: Measure, quality: str, among: Floats | None = None) -> Grid:
    """The scores of a measure beside the judgements of a quality, for the documents with a score of every system.

    Args:
        scores: what was measured.
        measure: one of them.
        quality: one of `QUALITIES`.
        among: scores of shape (summaries,) that must be there as well.
    """
    data = scores.data
    shape = len(data.documents), len(data.systems)
    values = scores.oriented(measure).reshape(shape)
    known = np.isfinite(values).all(axis=1)
    if among is not None:
        known = known & np.isfinite(among.reshape(shape)).all(axis=1)
    documents = tuple(data.documents[index] for index in np.flatnonzero(known))
    return Grid(documents, data.systems, values[known], data.judgements[quality][known], measure.label, quality)


def table_1(scores: SummEvalScores, found: pd.DataFrame) -> Table:
    """Table 1: summary level, four qualities, rho and tau-c."""
    cells = _by_measure(found)
    columns = [Column("measure", text=True), Column("from", text=True)]
    columns += [Column(SYMBOLS[method], group=quality) for quality in QUALITIES for method in METHODS[:2]]
    columns.append(Column("95% interval", group="consistency ρ", text=True))

    def ours(row: Row) -> list[Cell]:
        values = [row[quality, "summary", method][0] for quality in QUALITIES for method in METHODS[:2]]
        return [*values, interval(*row["consistency", "summary", "spearman"][1:])]

    def theirs(label: str) -> list[Cell]:
        return [*(value for pair in estime_paper.TABLE_1[label] for value in pair), None]

    return Table(
        "table1",
        "The paper's Table 1, summary level: correlation of measures with the mean of three experts, Spearman's ρ and "
        f"Kendall's τ-c, {len(scores.data)} summaries.",
        tuple(columns),
        _sections(scores, cells, ours, theirs, len(columns) - 2),
        _notes(scores),
    )


def table_2(scores: SummEvalScores, found: pd.DataFrame) -> Table:
    """Table 2: system level, consistency, rho and tau-c."""
    cells = _by_measure(found)
    columns = [Column("measure", text=True), Column("from", text=True)]
    for method in METHODS[:2]:
        columns += [Column(SYMBOLS[method]), Column(f"{SYMBOLS[method]}, 95% interval", text=True)]

    def ours(row: Row) -> list[Cell]:
        values: list[Cell] = []
        for method in METHODS[:2]:
            value, low, high = row["consistency", "system", method]
            values += [value, interval(low, high)]
        return values

    def theirs(label: str) -> list[Cell]:
        printed: Printed = estime_paper.TABLE_2[label]
        return [printed.rho, None, printed.tau, None]

    data = scores.data
    notes = _notes(scores)
    if not data.named_systems:
        notes += ("The data do not name the systems: position k of each row's list is taken for the same system.",)
    return Table(
        "table2",
        f"The paper's Table 2, system level: correlation of {len(data.systems)} systems' mean scores with their mean "
        f"consistency, Spearman's ρ and Kendall's τ-c, {len(data.documents)} documents.",
        tuple(columns),
        _sections(scores, cells, ours, theirs, 4),
        notes,
    )


def intervals(scores: SummEvalScores, found: pd.DataFrame) -> Table:
    """What the paper does not print: intervals of rho, and Pearson's r, for all qualities on both levels."""
    cells = _by_measure(found)
    columns = [Column("measure", text=True)]
    for quality in QUALITIES:
        columns += [Column("ρ", group=quality), Column("95% interval", group=quality, text=True)]
        columns.append(Column("r", group=quality))

    def row_of(measure: Measure, level: str) -> tuple[Cell, ...]:
        row, values = cells[measure.column], list[Cell]()
        for quality in QUALITIES:
            rho, low, high = row[quality, level, "spearman"]
            values += [rho, interval(low, high), row[quality, level, "pearson"][0]]
        return (measure.label, *values)

    return Table(
        "intervals",
        "Spearman's ρ with 95% intervals (bootstrap over documents) and Pearson's r, all qualities, both levels.",
        tuple(columns),
        tuple(
            Section(
                f"{level.capitalize()} level",
                tuple(row_of(measure, level) for measure in scores.measures if measure.column in cells),
            )
            for level in LEVELS
        ),
        _notes(scores),
    )


def layers(scores: SummEvalScores, found: pd.DataFrame) -> Table | None:
    """The curve of appendix A: each layer's correlations, summary level; ``None`` where fewer than two were read."""
    cells = _by_measure(found)
    of_layers = [one for one in scores.measures if one.layer is not None and one.column in cells]
    if len({one.layer for one in of_layers}) < 2:
        return None
    columns = [Column("layer", text=True), Column("mean", decimals=2)]
    columns += [Column(SYMBOLS[method], group=quality) for quality in QUALITIES for method in METHODS[:2]]
    columns += [Column(SYMBOLS[method], group="system, consistency") for method in METHODS[:2]]
    sections: dict[str, list[tuple[Cell, ...]]] = {}
    for one in of_layers:
        row, name = cells[one.column], one.label.replace(f"-{one.layer}", "", 1)
        values = [row[quality, "summary", method][0] for quality in QUALITIES for method in METHODS[:2]]
        values += [row["consistency", "system", method][0] for method in METHODS[:2]]
        mean = float(np.nanmean(scores.values[one.column]))
        sections.setdefault(name, []).append((one.layer, mean, *values))
    return Table(
        "layers",
        "By layer (appendix A of the paper): mean over the summaries, correlation with the experts at the summary "
        "level, and with consistency at the system level; Spearman's ρ and Kendall's τ-c.",
        tuple(columns),
        tuple(Section(name, tuple(rows)) for name, rows in sections.items()),
        _notes(scores),
    )


def _by_measure(found: pd.DataFrame) -> dict[str, Row]:
    cells: dict[str, Row] = {}
    for row in found.itertuples():
        cells.setdefault(row.column, {})[row.quality, row.level, row.method] = (row.value, row.low, row.high)
    return cells


def _sections(
    scores: SummEvalScores,
    cells: dict[str, Row],
    ours: Callable[[Row], Sequence[Cell]],
    theirs: Callable[[str], Sequence[Cell]],
    width: int,
) -> tuple[Section, ...]:
    """The rows in the paper's order, what was measured here above the printed row of the same measure."""

    def rows(section: str) -> Iterator[tuple[Cell, ...]]:
        for label in (*PRINTED.get(section, ()), None):
            for one in [one for one in scores.measures if one.main and _place(one) == (section, label)]:
                row = cells.get(one.column)
                if row is None:
                    yield (one.label, FAILED, *[None] * width)
                else:
                    yield (one.label, FILE if one.section == OWN else HERE, *ours(row))
            if label is not None:
                yield (label, PAPER, *theirs(label))

    found = {name: tuple(rows(name)) for name in SECTIONS}
    return tuple(Section(name, of_it) for name, of_it in found.items() if of_it)


def _place(measure: Measure) -> tuple[str, str | None]:
    """The section of a measure and the paper's row above which it stands; ``None``: below all of them."""
    name = measure.label.split(" [")[0] if measure.section == OWN else measure.label
    for section, labels in PRINTED.items():
        if name in labels and measure.section in (section, OWN):
            return section, name
    return measure.section, FIRST_ESTIME if measure.layer is not None else None


def _notes(scores: SummEvalScores) -> tuple[str, ...]:
    data = scores.data
    return (
        f"Rows from {HERE!r} were measured now, on {data.origin} ({len(data.documents)} documents, "
        f"{len(data.systems)} systems); their signatures stand below.",
        f"Rows from {PAPER!r} are printed in Vasilyev & Bohannon 2021, ESTIME with "
        "bert-large-uncased-whole-word-masking and BERTScore with roberta-large; they were not measured here.",
        "(-): the score is negated, so that higher is better in every row. Length: words; absent words: words that the "
        "source does not have. Intervals: percentiles of a bootstrap over documents.",
        *(f"{name}: {signature}" for name, signature in scores.signatures.items()),
        *(note for notes in scores.notes.values() for note in notes),
        *(f"{name}: {FAILED}. {reason}" for name, reason in scores.problems.items()),
    )
