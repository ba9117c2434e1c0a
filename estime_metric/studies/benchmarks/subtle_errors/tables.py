"""The table of the experiment for readers: Table 3 of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from estime_metric._wording import counted
from estime_metric.show.tables import Cell
from estime_metric.studies.benchmarks.shared.estime_paper import TABLE_3
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import with_interval_texts
from estime_metric.studies.benchmarks.subtle_errors.data import Versions
from estime_metric.studies.benchmarks.subtle_errors.statistics import AGREEMENT
from estime_metric.studies.tables import Column, Section, Table

#: With fewer pairs an interval would say nothing: a resample of them mostly repeats the same few.
LEAST_PAIRS = 10


#: Field of a tidy table -> its heading, with the interval of those that have `INTERVAL` behind it.
Shown = Mapping[str, str]
INTERVAL = "_interval"
_AGREEMENT = {
    "spearman": "ρ",
    "spearman_interval": "ρ, 95%",
    "spearman_p_value": "ρ, p",
    "kendall_c": "τ-c",
    "behind": "ρ behind",
    "behind_interval": "ρ behind, 95%",
    "preferred": "clean preferred",
    "p_value": "difference, p",
}
_INTERVALS = "95%: percentiles of a bootstrap over pairs, widened to the estimate if that is outside of them."


def make_tables(scores: Scores[Versions], frames: Frames) -> list[Table]:
    """``subtle-errors-table-3``."""
    return [table_3(scores, frames[AGREEMENT])]


def table_3(scores: Scores[Versions], frame: pd.DataFrame) -> Table:
    """Correlations of every measure with clean = 1 and corrupted = 0, and the paper's as printed."""
    data = scores.data
    sections = []
    for number, rows in frame.groupby("n_errors"):
        title = f"Computed in this run: {counted(number, 'error')}, {counted(rows['pairs'].iloc[0], 'pair')}"
        sections.append(Section(title, _rows(rows, "measure", _AGREEMENT)))
    sections.append(_printed_section())
    pairs = len(data.documents)
    complete = {number: len(data.complete(number)) for number in data.numbers}
    notes = (
        f"Higher is better; (-): the measure is negated. ρ, p: two-sided, of no correlation, with summaries treated as "
        f"independent. ρ behind: {_behind(scores)}. Clean preferred: fraction of the pairs in which the clean summary "
        "scores higher; ties count as one half. Difference, p: paired test of the mean difference by approximate "
        "randomization, two-sided.",
        _about_intervals(frame),
        *(
            f"{counted(pairs - known, 'pair')} of {pairs} excluded: too few whole words for {counted(number, 'error')}."
            for number, known in complete.items()
            if known < pairs
        ),
        f"Errors: {data.generator}",
        *scores.remarks,
    )
    title = "Subtle errors (Table 3 of the paper): correlation with clean = 1, corrupted = 0"
    return _table("table-3", title, Column("measure", text=True), _AGREEMENT, sections, notes)


def _behind(scores: Scores[Versions]) -> str:
    second = any(column.setting for column in scores.known)
    text = "ρ of the first row minus ρ of this row"
    return (
        f"{text}; in the second setting, ρ of the same measure in the first one" if second else text
    )


def _printed_section() -> Section:
    rows = list(TABLE_3.reindex(columns=list(_AGREEMENT)).itertuples(name=None))
    title = "Printed in the paper, not computed in this run: 3 errors, 2000 pairs of CNN/DailyMail"
    return Section(title, rows)


def _table(
    name: str,
    title: str,
    first: Column,
    shown: Shown,
    sections: Sequence[Section],
    notes: Iterable[str],
) -> Table:
    columns = [
        Column(
            heading, decimals=4 if field.endswith("p_value") else 3, text=field.endswith(INTERVAL)
        )
        for field, heading in shown.items()
    ]
    return Table(f"subtle-errors-{name}", title, [first, *columns], sections, tuple(notes))


def _rows(frame: pd.DataFrame, first: str, shown: Shown) -> list[tuple[Cell, ...]]:
    """The rows of a tidy table as they are shown, the field ``first`` in front; without intervals if
    there are too few pairs.
    """
    ends = [name for name in frame if name.endswith(("_low", "_high"))]
    enough = frame[ends].where(frame["pairs"] >= LEAST_PAIRS)
    fields = [name.removesuffix(INTERVAL) for name in shown if name.endswith(INTERVAL)]
    texts = with_interval_texts(frame.assign(**enough), *fields, decimals=3)
    return list(texts[[first, *shown]].itertuples(index=False, name=None))


def _about_intervals(frame: pd.DataFrame) -> str:
    few = len(frame) and frame["pairs"].min() < LEAST_PAIRS
    return f"{_INTERVALS} Fewer than {LEAST_PAIRS} pairs have no interval." if few else _INTERVALS
