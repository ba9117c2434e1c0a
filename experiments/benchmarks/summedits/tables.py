"""SummEdits' tables for readers: balanced accuracies and areas by domain."""

from __future__ import annotations

import pandas as pd

from estime_metric.report.tables import Column, Table
from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, REFERENCE_FREE, TRIVIAL
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    TITLES,
    Shown,
    labels_of,
    measure_table,
    with_interval_texts,
)
from experiments.benchmarks.summedits.data import DOMAINS
from experiments.benchmarks.summedits.published import PUBLISHED as PUBLISHED_ACCURACIES
from experiments.benchmarks.summedits.statistics import CHANCE, DETECTION, MEAN

_TEN_DOMAINS = "Published, the mean of all ten domains in brackets"


def make_tables(scores: Scores[Summaries], frames: Frames) -> list[Table]:
    """``summedits`` (balanced accuracy) and ``summedits-area`` (area under the ROC curve), each by
    domain, and with the mean of the domains and its interval.
    """
    data = scores.data
    frame = with_interval_texts(frames[DETECTION], "accuracy", "area", decimals=1)
    labels = labels_of(scores)
    labels[TITLES[PUBLISHED]] = {}
    notes = _notes(scores, frame)
    about = f"{data.origin}, {len(data)} summaries of {data.table['text'].nunique()} documents"

    def by_domain(value: str) -> Shown:
        domains = {
            (value, name): Column(DOMAINS.get(name, name), decimals=1) for name in data.documents
        }
        return {
            (value, MEAN): Column("value", MEAN, 1),
            (f"{value}_interval", MEAN): Column("95% interval", MEAN, text=True),
            **domains,
        }

    return [
        measure_table(
            "summedits",
            f"SummEdits: balanced accuracy; {about}.",
            frame,
            ["domain"],
            by_domain("accuracy"),
            {**labels, _TEN_DOMAINS: _published(frame)},
            (_ABOUT_ACCURACY, *notes),
        ),
        measure_table(
            "summedits-area",
            f"SummEdits: area under the ROC curve; {about}.",
            frame,
            ["domain"],
            by_domain("area"),
            labels,
            notes,
        ),
    ]


def _published(frame: pd.DataFrame) -> dict[str, str]:
    """The labels of the published rows."""
    rows = frame[frame["section"] == PUBLISHED]
    overall = PUBLISHED_ACCURACIES["overall"]
    return {
        row.column: f"{row.measure} (ten domains: {overall[row.measure]:.1f})"
        for row in rows.itertuples()
    }


def _verdict(frame: pd.DataFrame) -> tuple[str, ...]:
    """Which of the measures of this run are better than chance, by their mean area."""
    means = frame[(frame["domain"] == MEAN) & frame["section"].isin([REFERENCE_FREE, TRIVIAL])]
    if not len(means):
        return ()
    areas = f"mean areas from {means['area'].min():.1f} to {means['area'].max():.1f}"
    better = means[means["area_low"] > CHANCE]["measure"]
    if len(better):
        return (
            f"The measures of this run have {areas}. The 95% interval is above chance ({CHANCE}) for: "
            f"{', '.join(better)}.",
        )
    return (
        f"The measures of this run, trivial baselines included, have {areas}. None has a 95% interval above chance "
        f"({CHANCE}): they do not detect these edits.",
    )


_ABOUT_ACCURACY = (
    "Balanced accuracy: each summary is judged by the threshold that suits the other documents of its domain best. A "
    "measure at chance is often below it, since a document and the others deviate in opposite directions. "
    "Published accuracies are taken from the authors' README, which does not say how the thresholds of models that give "
    "a number were chosen."
)


def _notes(scores: Scores[Summaries], frame: pd.DataFrame) -> tuple[str, ...]:
    return (
        *_verdict(frame),
        "In per cent; 50 is chance. Mean: over the domains in the data, each with the same weight. (-): the score is "
        "negated, so that higher is better in every row. Intervals: percentiles of a bootstrap over documents, with "
        "the thresholds kept.",
        *scores.gaps,
        *scores.remarks,
    )
