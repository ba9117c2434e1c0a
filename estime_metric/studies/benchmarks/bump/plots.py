"""BUMP's plots: the consistency of every measure, and of the best ones by type of error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from estime_metric.studies.benchmarks.bump.data import Bump
from estime_metric.studies.benchmarks.bump.statistics import ALL, CONSISTENCY
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.plots import (
    MARKERS_EXPLAINED,
    best_of,
    plot_groups,
    plot_intervals,
    values_of,
)
from estime_metric.studies.benchmarks.shared.scores import Scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Chance, in percent.
MIDDLE = 50


def draw(scores: Scores[Bump], frames: Frames, *, seed: int = 0) -> Iterator[tuple[str, Figure]]:
    """``consistency``: consistency and area of every measure with their intervals, the most
    consistent first. ``types``: consistency by type of error, of the best measures that were
    computed and the best published ones.
    """
    frame = frames[CONSISTENCY]
    overall = frame[frame["error"] == ALL].dropna(subset="consistency")
    overall = overall.sort_values("consistency", ascending=False, kind="stable")
    if not len(overall):
        return
    panels = {
        "consistency": values_of(overall, "consistency"),
        "area under the ROC curve": values_of(overall, "area"),
    }
    caption = f"per cent, 95% intervals; {MARKERS_EXPLAINED}"
    yield "consistency", plot_intervals(panels, MIDDLE, caption, wider=1.5)
    rows_of = {
        row.measure: values_of(frame[frame["column"] == row.column], "consistency").set_index(
            "error"
        )
        for row in best_of(overall).itertuples()
    }
    types = {name: str(error) for name, error in scores.data.error_types.items()}
    yield "types", plot_groups(rows_of, types, "consistency, per cent", MIDDLE)
