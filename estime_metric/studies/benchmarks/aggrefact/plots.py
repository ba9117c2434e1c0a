"""AggreFact's plots: areas by cell, and marked words among those with the largest margins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.aggrefact.data import ORIGINS, AggreFact, Place
from estime_metric.studies.benchmarks.aggrefact.statistics import DETECTION, PLACE
from estime_metric.studies.benchmarks.aggrefact.tables import WIDE
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.plots import (
    MARKERS_EXPLAINED,
    plot_intervals,
    values_of,
)
from estime_metric.studies.benchmarks.shared.scores import Scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Shares of the checked words, those with the largest margins first, in the curve.
_CURVE = np.arange(0.01, 1.0, 0.01)


def draw(
    scores: Scores[AggreFact], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """``areas``: every measure's area with its interval, a panel per cell."""
    frame = frames[DETECTION]
    frame = frame[frame["area"].notna()]
    if not len(frame):
        return
    frame = values_of(frame, "area")
    labels = list(dict.fromkeys(frame["measure"]))
    panels = {}
    for names, rows in list(frame.groupby(PLACE, sort=False))[:WIDE]:
        place = Place(*names)
        title = f"{place.dataset}, {ORIGINS[place.origin]}\n{place.group}"
        panels[title] = rows.set_index("measure").reindex(labels).reset_index()
    caption = f"area under the ROC curve, 95% intervals; {MARKERS_EXPLAINED}"
    yield "areas", plot_intervals(panels, 0.5, caption, wider=2 * max(0, len(panels) - 2))


def draw_words(parts: Mapping[str, pd.DataFrame]) -> Figure:
    """The fraction of marked words among the words with the largest margins, as a function of their
    number; dotted: among all words. ``parts``: see `words.parts`.
    """
    from estime_metric.report.style import (
        COLORS,
        LABEL,
        TICK,
        WIDTH,
        make_plain,
        new_figure,
    )

    figure = new_figure(WIDTH, 3.8)
    axes = figure.add_subplot()
    for (part, words), color in zip(parts.items(), COLORS, strict=False):
        checked = words[words["verdict"] != "absent"]
        if not len(checked):
            continue
        order = np.argsort(checked["margin"].fillna(0), kind="stable")
        ranked = checked["marked"].to_numpy()[order]
        taken = np.maximum(1, np.round(_CURVE * len(ranked)).astype(np.int64))
        axes.plot(_CURVE, np.cumsum(ranked)[taken - 1] / taken, color=color, label=part)
        axes.axhline(ranked.mean(), color=color, linewidth=0.8, linestyle=":")
    axes.set_xlabel(
        "share of the words that the source has, the largest margins first", fontsize=LABEL
    )
    axes.set_ylabel("share that annotators marked", fontsize=LABEL)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=TICK, frameon=False)
    make_plain(axes)
    return figure
