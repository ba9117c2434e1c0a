"""Tables 1, 3, 4 and 5 of Steen & Markert 2022, computed and as published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from estime_metric.report.tables import Cell, Column, Section, Table
from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.published import (
    STATISTICS,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_5,
)
from estime_metric.studies.benchmarks.coherence_scores.statistics import (
    AGREEMENT,
    COMPONENTS,
    CONFOUNDERS,
    SHUFFLE,
)
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import with_interval_texts

HERE, PAPER = "here", "paper"
_SYSTEMS = (
    "here: computed from the published scores on the 16 systems whose judgements are available; "
    "paper: as printed, on 17 systems. They cannot be equal digit for digit."
)


def make_tables(scores: Scores[CoherenceScores], frames: Frames) -> list[Table]:
    """``table3``, ``table4``, ``table3-intervals``; ``table5`` and ``table1`` if they were computed."""
    made = [
        table_3(frames[AGREEMENT]),
        table_4(frames[SHUFFLE]),
        table_3_intervals(frames[AGREEMENT]),
    ]
    if COMPONENTS in frames:
        made.append(table_5(frames[COMPONENTS]))
    if CONFOUNDERS in frames:
        made.append(table_1(frames[CONFOUNDERS]))
    return made


def table_3(frame: pd.DataFrame) -> Table:
    """Table 3: one row for each measure, here and in the paper."""
    rows = _pairs(_by_measure(frame, "value"), _by_measure(TABLE_3, "value"))
    title = "Table 3 of Steen & Markert 2022: agreement of coherence measures with judged coherence, Kendall's τ-b."
    return _table("table3", title, _here_and_paper("measure", STATISTICS), rows, _SYSTEMS)


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


def table_1(frame: pd.DataFrame) -> Table:
    """Table 1: confounders and upper bound, here and in the paper."""
    rows = _pairs(frame.set_index("confounder"), TABLE_1)
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


def _by_measure(frame: pd.DataFrame, field: str) -> pd.DataFrame:
    """A row for each measure, a column for each statistic."""
    wide = frame.pivot(index="measure", columns="statistic", values=field)
    return wide.loc[frame["measure"].unique()]


def _pairs(here: pd.DataFrame, paper: pd.DataFrame) -> list[tuple[Cell, ...]]:
    """For each row of ``here``, each statistic here and in the paper."""
    rows: list[tuple[Cell, ...]] = []
    for label, values in here.iterrows():
        pairs = ((values[name], paper.loc[label, name]) for name in STATISTICS)
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
