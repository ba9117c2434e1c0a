"""FRANK's plots: partial correlations of all measures, and the ablation of the best ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from estime_metric.studies.benchmarks.frank.data import ERRORS, Frank
from estime_metric.studies.benchmarks.frank.statistics import (
    ABLATION,
    CORRELATIONS,
    PARTS,
    part_name,
)
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.plots import (
    MARKERS_EXPLAINED,
    best_of,
    plot_groups,
    plot_intervals,
)
from estime_metric.studies.benchmarks.shared.scores import Scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(scores: Scores[Frank], frames: Frames, *, seed: int = 0) -> Iterator[tuple[str, Figure]]:
    """``correlations``: partial Pearson correlations of all measures with their intervals, best
    first, for each part of the data. ``ablation``: over all summaries, of the best measures that
    were computed and the best published ones.
    """
    frame = frames[CORRELATIONS]
    rows = frame[(frame["kind"] == "partial") & (frame["method"] == "pearson")]
    rows = rows.sort_values("value", ascending=False, kind="stable", na_position="last")
    known = rows[rows["part"] == "all"].dropna(subset="value")
    if not len(known):
        return
    panels = {
        part_name(part): rows[rows["part"] == part].set_index("column").loc[known["column"]]
        for part in PARTS
    }
    caption = f"partial r with factuality, 95% intervals; {MARKERS_EXPLAINED}"
    yield "correlations", plot_intervals(panels, 0, caption, wider=1.5)
    yield "ablation", _ablation(frames[ABLATION], known)


def _ablation(frame: pd.DataFrame, ranked: pd.DataFrame) -> Figure:
    """The ablation of the first measures of each kind in ``ranked``."""
    rows = frame[frame["part"] == "all"]
    errors = {error: ERRORS.get(error, error) for error in dict.fromkeys(rows["error"])}
    rows_of = {
        row.measure: rows[rows["column"] == row.column].set_index("error")
        for row in best_of(ranked).itertuples()
    }
    return plot_groups(rows_of, errors, "partial r minus the one with the type flipped", 0)
