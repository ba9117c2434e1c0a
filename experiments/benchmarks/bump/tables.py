"""BUMP's tables for readers: consistency, ties and areas, by type of error, and the paired tests."""

from __future__ import annotations

import pandas as pd

from estime_metric.show.tables import interval_cell
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import with_interval_texts
from estime_metric.studies.tables import Column, Section, Table, p_value
from experiments.benchmarks.bump.data import error_types
from experiments.benchmarks.bump.statistics import ALL, CONSISTENCY, TESTS
from experiments.benchmarks.tables import measure_table


def make_tables(scores: Scores[Summaries], frames: Frames) -> list[Table]:
    """``bump`` (consistency, ties and area over all pairs), ``bump-types`` (consistency by type of
    error), ``bump-tests`` (against the nearest published measure).
    """
    data, notes = scores.data, _notes(scores)
    frame = with_interval_texts(frames[CONSISTENCY], "consistency", "area", decimals=1)
    articles = data.table["article"].nunique()
    about = f"{data.origin}, {len(data.documents)} pairs of {articles} articles"
    overall = {
        ("consistency", ALL): Column("value", "consistency", 1),
        ("consistency_interval", ALL): Column("95% interval", "consistency", text=True),
        ("ties", ALL): Column("ties"),
        ("area", ALL): Column("value", "area", 1),
        ("area_interval", ALL): Column("95% interval", "area", text=True),
    }
    return [
        measure_table(
            "bump",
            f"BUMP: consistency and area under the ROC curve; {about}.",
            scores,
            frame,
            ["error"],
            overall,
            notes,
        ),
        _by_type(scores, frame, f"BUMP: consistency by type of error; {about}."),
        _tests(scores, frames[TESTS], notes),
    ]


def _by_type(scores: Scores[Summaries], frame: pd.DataFrame, title: str) -> Table:
    errors = scores.data.table["error"]
    counts = errors.value_counts() // 2  # of pairs
    shown = {}
    for error, error_type in error_types(errors).items():
        # The two kinds of one error have a heading in common.
        name = f"{error_type.kind or error_type.what} ({counts[error]})"
        group = error_type.what if error_type.kind else ""
        shown["consistency", error] = Column(name, group, decimals=1)
    return measure_table("bump-types", title, scores, frame, ["error"], shown, _notes(scores))


def _tests(scores: Scores[Summaries], frame: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    labels = {column.name: column.label for column in scores.columns}
    nearest = frame[frame["nearest"].astype(bool)].drop_duplicates("column")
    rows = [
        (
            labels[row.column],
            labels[row.other],
            row.difference,
            interval_cell(row.difference_low, row.difference_high, 1),
            p_value(row.p_bootstrap),
            row.only_first,
            row.only_second,
            p_value(row.p_mcnemar),
        )
        for row in nearest.itertuples()
    ]
    columns = [
        Column("measure", text=True),
        Column("nearest published", text=True),
        Column("difference", "consistency", 1),
        Column("95% interval", "consistency", text=True),
        Column("p, bootstrap", decimals=4),
        Column("won alone", "pairs"),
        Column("lost alone", "pairs"),
        Column("p, McNemar", decimals=4),
    ]
    about = (
        "Difference: the consistency of the measure minus the consistency of the closest published measure, in points. "
        "p, bootstrap: two-sided paired bootstrap over articles, which keeps the pairs of an article together. "
        "Won alone, lost alone: pairs in which only this measure, or only the published one, prefers the reference; "
        "McNemar's exact test, two-sided, treats them as independent. The p-values are not corrected for the number of tests."
    )
    title = f"BUMP: paired tests of each measure against the nearest published one; {scores.data.origin}."
    return Table("bump-tests", title, columns, [Section("", rows)], (about, *notes))


def _notes(scores: Scores[Summaries]) -> tuple[str, ...]:
    return (
        "In per cent. Consistency: the share of pairs in which the reference has the better score, strictly; a tie is "
        "a miss. Area: references against edited summaries of all pairs; 50 is chance. (-): the score is negated, so "
        "that higher is better in every row. Intervals: percentiles of a bootstrap over articles; the intervals of the area are "
        "slightly too high, since a resample compares copies of an article with each other.",
        *scores.gaps,
        *scores.remarks,
    )
