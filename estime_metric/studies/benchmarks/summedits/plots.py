"""SummEdits' plot: area and balanced accuracy of every measure, mean over the domains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.plots import (
    MARKERS_EXPLAINED,
    plot_intervals,
    values_of,
)
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.summedits.data import SummEdits
from estime_metric.studies.benchmarks.summedits.statistics import CHANCE, DETECTION, MEAN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    scores: Scores[SummEdits], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """``detection``: every measure and every published model with the mean of the domains, the most
    accurate first.
    """
    frame = frames[DETECTION]
    means = frame[frame["domain"] == MEAN].sort_values("accuracy", ascending=False, kind="stable")
    if not len(means):
        return
    panels = {
        "balanced accuracy": values_of(means, "accuracy"),
        "area under the ROC curve": values_of(means, "area"),
    }
    caption = f"per cent, mean of the domains, 95% intervals; {MARKERS_EXPLAINED}"
    yield "detection", plot_intervals(panels, CHANCE, caption, wider=1.5)
