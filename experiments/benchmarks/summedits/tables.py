"""SummEdits' tables for readers: balanced accuracies and areas by domain."""

from __future__ import annotations

import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import REFERENCE_FREE, TRIVIAL
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.tables import Column, Table
from experiments.benchmarks.detection import DETECTION, MEAN, by_part, notes
from experiments.benchmarks.summedits.data import DOMAINS
from experiments.benchmarks.summedits.published import PUBLISHED

#: Area of a measure that says nothing.
CHANCE = 0.5


def make_tables(scores: Scores[Summaries], frames: Frames) -> list[Table]:
    """``summedits`` (balanced accuracy) and ``summedits-area`` (area under the ROC curve), each by
    domain, and with the mean of the domains and its interval.
    """
    data, frame = scores.data, frames[DETECTION]
    about = f"{data.origin}, {len(data)} summaries of {data.table['text'].nunique()} documents"
    columns: dict[tuple[str, ...], Column] = {
        (name,): Column(DOMAINS.get(name, name)) for name in data.documents
    }
    labels = {
        name: f"{name} (ten domains: {mean:.3f})" for name, mean in PUBLISHED["overall"].items()
    }
    labelled = frame.assign(measure=frame["measure"].replace(labels))
    all_notes = (*_verdict(frame), _ABOUT_ACCURACY, *notes(scores))
    return [
        by_part(
            "summedits",
            f"SummEdits: balanced accuracy; {about}.",
            scores,
            labelled,
            ["domain"],
            "accuracy",
            columns,
            all_notes,
        ),
        by_part(
            "summedits-area",
            f"SummEdits: area under the ROC curve; {about}.",
            scores,
            frame,
            ["domain"],
            "area",
            columns,
            all_notes,
        ),
    ]


def _verdict(frame: pd.DataFrame) -> tuple[str, ...]:
    """Which of the measures of this run are better than chance, by their mean area."""
    means = frame[(frame["domain"] == MEAN) & frame["section"].isin([REFERENCE_FREE, TRIVIAL])]
    if not len(means):
        return ()
    areas = f"mean areas from {means['area'].min():.3f} to {means['area'].max():.3f}"
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
