"""SummEdits' tables for readers: balanced accuracies and areas by domain."""

from __future__ import annotations

import pandas as pd

from estime_metric.report.tables import Table
from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, REFERENCE_FREE, TRIVIAL
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    TITLES,
    Shown,
    labels_of,
    measure_table,
    shown_interval,
)
from estime_metric.studies.benchmarks.summedits.data import DOMAINS, SummEdits
from estime_metric.studies.benchmarks.summedits.published import PUBLISHED as PUBLISHED_ACCURACIES
from estime_metric.studies.benchmarks.summedits.statistics import CHANCE, DETECTION, MEAN

_TEN_DOMAINS = "Published, the mean of all ten domains in brackets"


def make_tables(scores: Scores[SummEdits], frames: Frames) -> list[Table]:
    """``summedits`` (balanced accuracy) and ``summedits-area`` (area under the ROC curve), each by
    domain, and with the mean of the domains and its interval.
    """
    frame = frames[DETECTION]
    labels = {**labels_of(scores), TITLES[PUBLISHED]: {}}
    about = f"{scores.data.origin}, {len(scores.data)} summaries of {len(set(scores.data.document_of_each))} documents"
    return [
        measure_table(
            "summedits",
            f"SummEdits: balanced accuracy; {about}.",
            frame,
            ["domain"],
            _columns(scores.data, "accuracy"),
            {**labels, _TEN_DOMAINS: _published(frame)},
            (_ABOUT_ACCURACY, *_notes(scores, frame)),
        ),
        measure_table(
            "summedits-area",
            f"SummEdits: area under the ROC curve; {about}.",
            frame,
            ["domain"],
            _columns(scores.data, "area"),
            labels,
            _notes(scores, frame),
        ),
    ]


def _columns(data: SummEdits, value: str) -> list[Shown]:
    mean = Shown("value", MEAN, 1, key=(MEAN,), value=value)
    domains = [
        Shown(DOMAINS.get(domain, domain), decimals=1, key=(domain,), value=value)
        for domain in data.domains
    ]
    return [mean, shown_interval(MEAN, group=MEAN, of=value, decimals=1), *domains]


def _published(frame: pd.DataFrame) -> dict[str, str]:
    """The labels of the published rows."""
    rows = frame[frame["section"] == PUBLISHED]
    return {
        row.column: f"{row.measure} (ten domains: {PUBLISHED_ACCURACIES[row.measure].overall:.1f})"
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


def _notes(scores: Scores[SummEdits], frame: pd.DataFrame) -> tuple[str, ...]:
    return (
        *_verdict(frame),
        "In per cent; 50 is chance. Mean: over the domains in the data, each with the same weight. (-): the score is "
        "negated, so that higher is better in every row. Intervals: percentiles of a bootstrap over documents, with "
        "the thresholds kept.",
        *scores.gaps,
        *scores.remarks,
    )
