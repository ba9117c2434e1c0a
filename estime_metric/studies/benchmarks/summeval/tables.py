"""SummEval's tables for readers: the ESTIME paper's Tables 1 and 2, layers, and measures from
files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from estime_metric.show.tables import Cell
from estime_metric.studies.benchmarks.shared import estime_paper
from estime_metric.studies.benchmarks.shared.blocks import (
    OWN,
    REFERENCE_BASED,
    REFERENCE_FREE,
    SECTIONS,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.estime_paper import CORRELATIONS as PAPER_CORRELATIONS
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    Shown,
    measure_cells,
    measure_rows,
    with_interval_texts,
)
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.benchmarks.summeval.statistics import CORRELATIONS, DIFFERENCES
from estime_metric.studies.tables import Column, Section, Table, p_value

_BY = ("quality", "level", "method")
SYMBOLS = {"spearman": "ρ", "kendall_c": "τ"}
#: Where a row of the paper's tables comes from.
HERE, PAPER, FILE, FAILED = "here", "paper", "file", "failed"
#: Section -> the paper's rows in it.
PRINTED = {
    REFERENCE_FREE: estime_paper.REFERENCE_FREE,
    REFERENCE_BASED: estime_paper.REFERENCE_BASED,
}
#: The paper's row before which ESTIME with another layer is shown.
FIRST_ESTIME = "(-)ESTIME-12"


def make_tables(scores: Scores[SummEval], frames: Frames) -> list[Table]:
    """``table1`` and ``table2`` of the paper; ``layers`` if several were read, ``differences`` if
    there is a second setting or scores of files.
    """
    frame = with_interval_texts(frames[CORRELATIONS], "value")
    frame = frame.assign(p_text=frame["p_value"].map(p_value))
    made = [table_1(scores, frame), table_2(scores, frame)]
    in_layers = [column for column in scores.known if column.layer is not None]
    if len({column.layer for column in in_layers}) > 1:
        made.append(layers(scores, in_layers, frame))
    if DIFFERENCES in frames:
        made.append(differences(scores, frames[DIFFERENCES]))
    return made


def table_1(scores: Scores[SummEval], frame: pd.DataFrame) -> Table:
    """Table 1: summary level, four qualities, rho and tau-c."""
    spearman = "consistency", "summary", "spearman"
    shown = {
        **_correlation_columns("summary", *QUALITIES),
        ("value_interval", *spearman): Column("ρ, 95% interval", "consistency", text=True),
        ("p_text", *spearman): Column("ρ, p", "consistency", decimals=4),
    }
    title = (
        "The paper's Table 1, summary level: correlation of measures with the mean of three experts, Spearman's ρ and "
        f"Kendall's τ-c, {len(scores.data)} summaries."
    )
    notes = [_about_p_values(scores, frame), *_notes(scores)]
    return _paper_table("table1", title, scores, shown, frame, notes)


def table_2(scores: Scores[SummEval], frame: pd.DataFrame) -> Table:
    """Table 2: system level, consistency, rho and tau-c."""
    data = scores.data
    shown = {}
    for method, symbol in SYMBOLS.items():
        key = "consistency", "system", method
        shown["value", *key] = Column(symbol)
        shown["value_interval", *key] = Column(f"{symbol}, 95% interval", text=True)
        shown["p_text", *key] = Column(f"{symbol}, p", decimals=4)
    title = (
        f"The paper's Table 2, system level: correlation of {len(data.systems)} systems' mean scores with their mean "
        f"consistency, Spearman's ρ and Kendall's τ-c, {len(data.documents)} documents."
    )
    unnamed = "The data does not name the systems: position k of each row's list is treated as the same system."
    notes = _notes(scores) if data.named_systems else (*_notes(scores), unnamed)
    return _paper_table("table2", title, scores, shown, frame, notes)


def layers(scores: Scores[SummEval], columns: Sequence[ScoreColumn], frame: pd.DataFrame) -> Table:
    """The curve of appendix A: each layer's correlations, summary level; a section per measure."""
    shown = {
        **_correlation_columns("summary", *QUALITIES),
        **_correlation_columns("system", "consistency", prefix="system, "),
    }
    cells = measure_cells(frame, _BY, shown)
    rows: dict[str, list[tuple[Cell, ...]]] = {}
    for column in columns:
        mean = float(np.nanmean(scores.values[column.name]))
        (row,) = measure_rows(cells, {column.name: column.label})
        measure = column.label.replace(f"-{column.layer}", "", 1)
        rows.setdefault(measure, []).append((column.layer, mean, *row[1:]))
    title = (
        "By layer (appendix A of the paper): mean over the summaries, correlation with the experts at the summary "
        "level, and with consistency at the system level; Spearman's ρ and Kendall's τ-c."
    )
    headings = [Column("layer", text=True), Column("mean", decimals=2)]
    return Table(
        "layers",
        title,
        [*headings, *shown.values()],
        [Section(measure, layer_rows) for measure, layer_rows in rows.items()],
        _notes(scores),
    )


def differences(scores: Scores[SummEval], compared: pd.DataFrame) -> Table:
    """Scores of files and a second setting, compared with ESTIME: `statistics.differences`."""
    shown = {("than", QUALITIES[0]): Column("minus", text=True)}
    shown["documents", QUALITIES[0]] = Column("documents")
    for quality in QUALITIES:
        shown["difference", quality] = Column("ρ more", quality)
        shown["value_interval", quality] = Column("ρ more, 95% interval", quality, text=True)
        shown["p_value", quality] = Column("p", quality, decimals=4)
    cells = measure_cells(with_interval_texts(compared, "value"), ["quality"], shown)
    rows = measure_rows(cells, dict(zip(compared["column"], compared["measure"], strict=True)))
    notes = (
        "Positive: the measure agrees better than the one that is subtracted. Intervals: bootstrap over documents. p: the "
        "test of Williams, two-sided, which treats summaries as independent and is approximate for ρ.",
        *(note for notes in scores.notes.values() for note in notes),
    )
    title = "Differences of Spearman's ρ with the experts, summary level."
    return Table(
        "differences",
        title,
        [Column("measure", text=True), *shown.values()],
        [Section("", rows)],
        notes,
    )


def _about_p_values(scores: Scores[SummEval], frame: pd.DataFrame) -> str:
    """The p-values that the paper's caption names: those above .01."""
    main = [column.name for column in scores.known if column.main]
    rows = frame[frame["column"].isin(main) & (frame["level"] == "summary")]
    rows = rows[rows["method"].isin(SYMBOLS) & (rows["p_value"] > 0.01)]
    above = ", ".join(
        f"{row.measure} {row.quality} {SYMBOLS[row.method]} {row.p_value:.2f}"
        for row in rows.itertuples()
    )
    return (
        f"p: two-sided, of no correlation, with summaries treated as independent. Computed p-values above .01 "
        f"in all columns: {above or 'none'}."
    )


def _correlation_columns(level: str, *qualities: str, prefix: str = "") -> Shown:
    return {
        ("value", quality, level, method): Column(symbol, f"{prefix}{quality}")
        for quality in qualities
        for method, symbol in SYMBOLS.items()
    }


def _paper_table(
    name: str,
    title: str,
    scores: Scores[SummEval],
    shown: Shown,
    frame: pd.DataFrame,
    notes: Sequence[str],
) -> Table:
    """The rows in the paper's order, what was computed above the printed row of the same measure."""

    labels = {column.name: column.label for column in scores.columns}
    cells = measure_cells(frame, _BY, shown)
    computed = dict(zip(labels, measure_rows(cells, labels), strict=True))
    printed_cells = pd.concat({"value": PAPER_CORRELATIONS}, axis=1).reindex(columns=cells.columns)
    printed = {row[0]: row[1:] for row in printed_cells.itertuples(name=None)}

    def rows(section: str) -> Iterator[tuple[Cell, ...]]:
        for label in (*PRINTED.get(section, ()), None):
            for column in scores.columns:
                if column.main and _place_of(column) == (section, label):
                    yield (column.label, _origin_of(column, scores), *computed[column.name][1:])
            if label is not None:
                yield (label, PAPER, *printed[label])

    headings = [Column("measure", text=True), Column("from", text=True)]
    sections = [Section(section, list(rows(section))) for section in SECTIONS]
    return Table(
        name,
        title,
        [*headings, *shown.values()],
        [section for section in sections if section.rows],
        notes,
    )


def _place_of(column: ScoreColumn) -> tuple[str, str | None]:
    """The section of a row, and the paper's row above which it is shown; ``None``: below all."""
    name = column.label.split(" [")[0] if column.section == OWN else column.label
    for section, labels in PRINTED.items():
        if name in labels and column.section in (section, OWN):
            return section, name
    return column.section, FIRST_ESTIME if column.layer is not None else None


def _origin_of(column: ScoreColumn, scores: Scores[SummEval]) -> str:
    """Where the row of a column comes from."""
    if column.name not in scores.values:
        return FAILED
    return FILE if column.section == OWN else HERE


def _notes(scores: Scores[SummEval]) -> tuple[str, ...]:
    data = scores.data
    return (
        f"Rows from {HERE!r} were computed in this run, on {data.origin} ({len(data.documents)} documents, "
        f"{len(data.systems)} systems); their signatures are listed below.",
        f"Rows from {PAPER!r} are printed in Vasilyev & Bohannon 2021, ESTIME with "
        "bert-large-uncased-whole-word-masking and BERTScore with roberta-large; they were not computed in this run.",
        "(-): the score is negated, so that higher is better in every row. Length: words; absent words: words that the "
        "source does not have. Intervals: percentiles of a bootstrap over documents.",
        *scores.remarks,
    )
