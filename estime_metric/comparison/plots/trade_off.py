"""Two numbers of each system against each other, each point with its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
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
    y_least: float,
    notes: Sequence[str] = (),
) -> Figure:
    """Two numbers of each system, (s,), against each other, with names and vertical ``intervals``,
    (s, 2), and the ``notes`` below. ``x`` is a share, and ``y_least`` the least possible ``y``. The
    axes fit the data, and only possible values have a tick.
    """
    figure = new_figure(WIDTH, 4.2 + 0.2 * len(notes))
    axes = figure.add_subplot()
    ends = np.asarray(intervals, dtype=np.float64).T
    axes.vlines(x, *ends, color=GRAY, linewidth=0.8, zorder=1)
    make_grid(axes, x_label, y_label, title)
    draw_named_points(axes, np.column_stack([x, y]), systems)
    _keep_possible_ticks(axes, y_least)
    if notes:
        figure.supxlabel(
            "\n".join(notes).replace("$", r"\$"), fontsize=TICK, x=0.02, ha="left", wrap=True
        )
    return figure


def _keep_possible_ticks(axes: Axes, y_least: float) -> None:
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    axes.set_xticks([tick for tick in axes.get_xticks() if max(left, 0) <= tick <= min(right, 1)])
    axes.set_yticks([tick for tick in axes.get_yticks() if max(bottom, y_least) <= tick <= top])
