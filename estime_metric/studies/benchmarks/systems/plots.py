"""The plot of the study of systems: agreement with people on SummEval's systems."""

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
from estime_metric.studies.benchmarks.systems.data import REPORTING, SUMMEVAL, Systems
from estime_metric.studies.benchmarks.systems.statistics import MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS = {
    "share": "verdicts that are right",
    "accuracy": "pairs in people's order",
    "tau": "Kendall's τ",
}


def draw(scores: Scores[Systems], frames: Frames, *, seed: int = 0) -> Iterator[tuple[str, Figure]]:
    """``summeval``: verdicts with people's order, pairs in people's order, and Kendall's tau of every
    measure on SummEval, with intervals over documents; the most verdicts with people's order first.
    """
    frame = frames[MEASURES]
    frame = frame[(frame["part"] == REPORTING) & (frame["data"] == SUMMEVAL)]
    if not len(frame):
        return
    frame = frame.sort_values("share", ascending=False, kind="stable")
    panels = {title: values_of(frame, name) for name, title in _PANELS.items()}
    caption = f"SummEval, 95% intervals over documents; {MARKERS_EXPLAINED}"
    yield "summeval", plot_intervals(panels, 0.5, caption, wider=2.5)
