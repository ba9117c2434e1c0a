"""Two numbers of each system against each other, each point with its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from estime_metric.report.style import (
    GRAY,
    TICK,
    WIDTH,
    draw_named_points,
    make_grid,
    new_figure,
)


def plot_trade_off(
    x: Sequence[float],
    y: Sequence[float],
    systems: Sequence[str],
    intervals: ArrayLike,
    *,
    x_label: str,
    y_label: str,
    title: str,
    notes: Sequence[str] = (),
) -> Figure:
    """Two numbers of each system, (s,), against each other, with names and vertical ``intervals``,
    (s, 2), and the ``notes`` below. The axes fit the data.
    """
    figure = new_figure(WIDTH, 4.2 + 0.2 * len(notes))
    axes = figure.add_subplot()
    ends = np.asarray(intervals, dtype=np.float64).T
    axes.vlines(x, *ends, color=GRAY, linewidth=0.8, zorder=1)
    make_grid(axes, x_label, y_label, title)
    draw_named_points(axes, np.column_stack([x, y]), systems)
    if notes:
        figure.supxlabel(
            "\n".join(notes).replace("$", r"\$"), fontsize=TICK, x=0.02, ha="left", wrap=True
        )
    return figure
