"""Tables for readers: verdicts with people's order, pairs ordered as people do, and rules."""

from __future__ import annotations

from typing import Any

import pandas as pd

from estime_metric.report.tables import Column, Section, Table
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    labels_of,
    measure_table,
    with_interval_texts,
)
from experiments.benchmarks.systems.data import CHOOSING, DATA_SETS, REPORTING
from experiments.benchmarks.systems.statistics import CHOSEN_ON, MEASURES, RULES

#: With up to this number of pairs of systems, intervals are in ``measures.csv`` alone.
FEW_PAIRS = 10


def make_tables(scores: Scores[Summaries], frames: Frames) -> list[Table]:
    """``systems`` (verdicts with people's order) and ``systems-order`` (pairs ordered as people do,
    and Kendall's tau), both on the documents for reporting; ``systems-rules`` and
    ``systems-rules-holm`` on both parts.
    """
    frame = frames[MEASURES]
    frame = frame[frame["part"] == REPORTING]
    return [
        _verdicts(scores, frame),
        _order(scores, frame),
        _rules(scores, frames[RULES], "systems-rules", ""),
        _rules(scores, frames[RULES], "systems-rules-holm", "_holm"),
    ]


def _verdicts(scores: Scores[Summaries], frame: pd.DataFrame) -> Table:
    shown = {}
    for data in _data_sets(frame):
        shown["verdicts", data] = Column("right", data, text=True)
        if _has_intervals(frame, data):
            shown["share", data] = Column("share", data)
            shown["share_interval", data] = Column("95%, documents", data, text=True)
            shown["share_systems_interval", data] = Column("95%, systems", data, text=True)
    texts = with_interval_texts(frame, "share", "share_systems")
    return measure_table(
        "systems",
        "Verdicts of each measure alone: declared winners that people judge as more consistent, documents for "
        "reporting.",
        texts.assign(verdicts=_of(frame["right"], frame["declared"])),
        ["data"],
        shown,
        labels_of(scores),
        _notes(scores),
    )


def _order(scores: Scores[Summaries], frame: pd.DataFrame) -> Table:
    shown = {}
    for data in _data_sets(frame):
        shown["ordered_of", data] = Column("ordered", data, text=True)
        if frame.loc[frame["data"] == data, "pairs"].max() > 1:
            shown["tau", data] = Column("τ", data)
    return measure_table(
        "systems-order",
        "Pairs that people separate significantly and the measure orders as people do, and Kendall's τ-b of the "
        "systems' means, documents for reporting.",
        frame.assign(ordered_of=_of(frame["ordered"], frame["separated"])),
        ["data"],
        shown,
        labels_of(scores),
        _notes(scores),
    )


def _rules(scores: Scores[Summaries], frame: pd.DataFrame, name: str, ending: str) -> Table:
    """A row for each rule, a section for each part."""
    places = _data_sets(frame)
    totals = [("right", "in total"), ("wrong", "in total")]
    columns = [
        Column("rule", text=True),
        *(Column(data, text=True) for data in places),
        *(Column(heading, group) for heading, group in totals),
    ]
    sections = []
    for part in (CHOOSING, REPORTING):
        rows = []
        for rule, of_rule in frame[frame["part"] == part].groupby("rule", sort=False):
            right, declared = of_rule[f"right{ending}"], of_rule[f"declared{ending}"]
            cells = dict(zip(of_rule["data"], _of(right, declared), strict=True))
            counted = of_rule["data"].isin(CHOSEN_ON)
            label = f"{rule} (chosen)" if of_rule["chosen"].any() else str(rule)
            wrong = int((declared - right)[counted].sum())
            rows.append((label, *map(cells.get, places), int(right[counted].sum()), wrong))
        sections.append(Section(f"Documents for {part}", rows))
    about = (
        "Right of declared verdicts. A rule names the measure whose difference is significant, and the measure whose "
        f"difference confirms it. In total: {', '.join(CHOSEN_ON)}.",
        "p-values: Holm's correction for the pairs of a data set."
        if ending
        else "p-values: not corrected.",
    )
    title = "Rules by which a winner is declared, and how often people agree."
    return Table(name, title, columns, sections, (*about, *_notes(scores)))


def _data_sets(frame: pd.DataFrame) -> list[str]:
    return [data for data in DATA_SETS if (frame["data"] == data).any()]


def _has_intervals(frame: pd.DataFrame, data: str) -> bool:
    """Whether a data set has enough pairs of systems for intervals that say something."""
    return bool(frame.loc[frame["data"] == data, "pairs"].max() > FEW_PAIRS)


def _of(part: Any, whole: Any) -> list[str]:
    return [f"{count} of {other}" for count, other in zip(part, whole, strict=True)]


def _notes(scores: Scores[Summaries]) -> tuple[str, ...]:
    table = scores.data.table
    counts = table.groupby("data", sort=False)["system"].nunique()
    return (
        f"Data: {scores.data.origin}; systems: {', '.join(f'{data} {n}' for data, n in counts.items())}. (-): lower is "
        "better. Test: approximate randomization, whole sources swapped, p below .05. Right: people's mean judgement "
        "over the same documents is higher for the declared winner.",
        "Intervals: percentiles of a bootstrap over documents, with the test's normal approximation, and over systems. "
        "16 systems are few; with five or fewer, intervals say little, and only measures.csv has them.",
        "Published metrics have scores of FRANK alone.",
        *scores.remarks,
    )
