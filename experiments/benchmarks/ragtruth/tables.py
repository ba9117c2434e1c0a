"""RAGTruth's table for readers."""

from __future__ import annotations

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import with_interval_texts
from estime_metric.studies.tables import Column, Table
from experiments.benchmarks.detection import DETECTION, VALUES, notes
from experiments.benchmarks.ragtruth.statistics import ALL
from experiments.benchmarks.tables import measure_table

_HEADINGS = {"area": "area", "accuracy": "balanced accuracy", "f1": "F1"}


def make_tables(scores: Scores[Summaries], frames: Frames) -> list[Table]:
    """``ragtruth``: area under the ROC curve, balanced accuracy and F1 of each measure."""
    data, frame = scores.data, with_interval_texts(frames[DETECTION], *VALUES)
    shown = {}
    for value, heading in _HEADINGS.items():
        shown[value, ALL] = Column("value", heading)
        shown[f"{value}_interval", ALL] = Column("95% interval", heading, text=True)
    errors = int((data.table["label"] == 0).sum())
    about = f"{data.origin}, {len(data.documents)} articles, {len(data)} summaries, {errors} with an error"
    return [
        measure_table(
            "ragtruth",
            f"RAGTruth: errors in summaries that language models wrote; {about}.",
            scores,
            frame,
            ["part"],
            shown,
            (_ABOUT, *notes(scores)),
        )
    ]


_ABOUT = (
    "Balanced accuracy, F1 of the inconsistent summaries: each half of the articles is classified by the threshold with "
    "the best balanced accuracy on the other half. Published: on all 150 articles, with slightly other annotations."
)
