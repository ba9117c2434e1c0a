"""Tables 1, 3, 4, 5 and 6 of Steen & Markert 2022, computed and as published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from estime_metric.show.tables import Cell
from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.published import (
    STATISTICS,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    TABLE_6,
)
from estime_metric.studies.benchmarks.coherence_scores.statistics import (
    AGREEMENT,
    ANNOTATORS,
    COMPONENTS,
    CONFOUNDERS,
    ENTITIES,
    SHUFFLE,
)
from estime_metric.studies.benchmarks.shared.blocks import OWN
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import with_interval_texts
from estime_metric.studies.tables import Column, Section, Table

HERE, PAPER = "here", "paper"
_SYSTEMS = (
    "here: computed from the published scores on the 16 systems whose judgements are available; "
    "paper: as printed, on 17 systems. They cannot be equal digit for digit."
)


#: Measures whose code or models this package does not have.
_NOT_RUN = (
    "All measures of this table except those of files are scores that the authors published; EEG, NEG, UNF, GRA, GRN "
    "(GRUEN) and SQE (SumQE) cannot be computed by this package."
)


def make_tables(scores: Scores[CoherenceScores], frames: Frames) -> list[Table]:
    """``table3``, ``table4``, ``table3-intervals``; ``table5``, ``table6``, ``annotators`` and
    ``table1`` if they were computed.
    """
    remarks = [note for notes in scores.notes.values() for note in notes]
    agreement = frames[AGREEMENT]
    made = [table_3(agreement, remarks), table_4(frames[SHUFFLE]), table_3_intervals(agreement)]
    if COMPONENTS in frames:
        made.append(table_5(frames[COMPONENTS]))
    if ENTITIES in frames:
        made.append(table_6(frames[ENTITIES]))
    if ANNOTATORS in frames:
        made.append(annotators(frames[ANNOTATORS]))
    if CONFOUNDERS in frames:
        made.append(table_1(frames[CONFOUNDERS], agreement[agreement["section"] == OWN]))
    return made


def table_3(frame: pd.DataFrame, remarks: Sequence[str]) -> Table:
    """Table 3: one row for each measure, here and in the paper."""
    rows = _pairs(_by_measure(frame, "value"), _by_measure(TABLE_3, "value"))
    title = "Table 3 of Steen & Markert 2022: agreement of coherence measures with judged coherence, Kendall's τ-b."
    columns = _here_and_paper("measure", STATISTICS)
    return _table("table3", title, columns, rows, _SYSTEMS, _NOT_RUN, *remarks)


def table_3_intervals(frame: pd.DataFrame) -> Table:
    """The intervals of Table 3, here and in the paper."""
    here, paper = (
        _by_measure(with_interval_texts(values, "value"), "value_interval")
        for values in (frame, TABLE_3)
    )
    title = "Table 3 of Steen & Markert 2022: 95% intervals, documents and systems resampled."
    columns = _here_and_paper("measure", STATISTICS, text=True)
    return _table("table3-intervals", title, columns, _pairs(here, paper), _SYSTEMS)


def table_4(frame: pd.DataFrame) -> Table:
    """Table 4: accuracy on the shuffle test, here and in the paper, whether the printed digits are
    met, and how much of it is left between different texts.
    """
    columns = [
        Column("measure", text=True),
        Column(HERE),
        Column(PAPER),
        Column("met", text=True),
        Column("across"),
    ]
    rows = []
    for row in frame.itertuples():
        printed = TABLE_4[row.measure]
        met = "yes" if f"{row.accuracy:.3f}" == f"{printed:.3f}" else "no"
        rows.append((row.measure, row.accuracy, printed, met, row.across))
    title = "Table 4 of Steen & Markert 2022: shuffle accuracy on 1,000 reference summaries of CNN/DailyMail."
    notes = (
        "here: computed from the published scores, a tie counts as one half; paper: as printed; 0.5 by chance.",
        "across, computed here, not printed: each original against the shuffled form of each other text (section 7.4).",
    )
    return _table("table4", title, columns, rows, *notes)


def table_1(frame: pd.DataFrame, own: pd.DataFrame) -> Table:
    """Table 1: confounders and upper bound, here and in the paper, and below them measures of files."""
    rows = _pairs(frame.set_index("confounder"), TABLE_1)
    rows += _pairs(_by_measure(own, "value"), TABLE_1)
    title = "Table 1 of Steen & Markert 2022: what knowing the system alone gets; (r): ties broken at random."
    note = "Capitalization: here whether the system writes capitals, in the paper their number in each summary."
    columns = _here_and_paper("pseudo-measure", STATISTICS)
    return _table("table1", title, columns, rows, _SYSTEMS, note)


def table_5(frame: pd.DataFrame) -> Table:
    """Table 5: components of GRUEN, here and in the paper."""
    rows: list[tuple[Cell, ...]] = [
        (
            row.component,
            "alone" if row.component == row.other else row.other,
            row.value,
            TABLE_5[row.component, row.other],
        )
        for row in frame.itertuples()
    ]
    title = "Table 5 of Steen & Markert 2022: system-level agreement of GRUEN's components and of their sums."
    columns = [Column("component", text=True), *_here_and_paper("with", ["τ_sys"])]
    return _table("table5", title, columns, rows, _SYSTEMS)


def table_6(frame: pd.DataFrame) -> Table:
    """Table 6: texts and sentences without entity overlap, here and in the paper."""
    rows: list[tuple[Cell, ...]] = []
    for row in frame.itertuples():
        documents, sentences = TABLE_6[row.corpus]
        rows.append((row.corpus, row.texts, row.documents, documents, row.sentences, sentences))
    columns = [Column("corpus", text=True), Column("texts")]
    for share in ("documents", "sentences"):
        columns += [Column(name, share) for name in (HERE, PAPER)]
    title = "Table 6 of Steen & Markert 2022: share of documents, and mean share of sentences, without entity overlap."
    note = (
        "Entities: here content words, in the paper those of the Brown Coherence Toolkit. Texts: here the "
        'references of 100 documents and the summaries of 16 systems, in the paper "CNN/DM Ref.", whose size it does not state, and 17 systems.'
    )
    return _table("table6", title, columns, rows, note)


def annotators(frame: pd.DataFrame) -> Table:
    """How well each expert agrees with the other two."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"expert {row['expert']}",
            "HUM" if row["published"] else "",
            *(row[name] for name in STATISTICS),
        )
        for row in frame.to_dict("records")
    ]
    columns = [Column("annotator", text=True), Column("published", text=True)]
    columns += [Column(name) for name in STATISTICS]
    title = "Agreement of each expert with the mean of the other two on coherence, Kendall's τ-b."
    note = (
        "Steen & Markert 2022 take the expert with the worst correlation for HUM; published: whose judgements the "
        "published file contains. Experts are numbered from 0."
    )
    return _table("annotators", title, columns, rows, note)


def _by_measure(frame: pd.DataFrame, field: str) -> pd.DataFrame:
    """A row for each measure, a column for each statistic."""
    wide = frame.pivot(index="measure", columns="statistic", values=field)
    return wide.loc[frame["measure"].unique()]


def _pairs(here: pd.DataFrame, paper: pd.DataFrame) -> list[tuple[Cell, ...]]:
    """For each row of ``here``, each statistic here and in the paper."""
    published = paper.reindex(here.index)
    rows: list[tuple[Cell, ...]] = []
    for label, values in here.iterrows():
        pairs = ((values[name], published.loc[label, name]) for name in STATISTICS)
        rows.append((str(label), *(cell for pair in pairs for cell in pair)))
    return rows


def _table(
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[tuple[Cell, ...]],
    *notes: str,
) -> Table:
    return Table(name, title, columns, [Section("", rows)], notes)


def _here_and_paper(first: str, statistics: Iterable[str], *, text: bool = False) -> list[Column]:
    """A column of text, then for each statistic the computed and the published value."""
    columns = [Column(first, text=True)]
    for statistic in statistics:
        columns += [Column(name, statistic, decimals=2, text=text) for name in (HERE, PAPER)]
    return columns
