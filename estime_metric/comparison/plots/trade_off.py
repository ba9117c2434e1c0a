"""Two numbers of each system against each other, each point with its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from estime_metric.report.labels import named_points
from estime_metric.report.style import GRAY, WIDTH, make_grid, new_figure
from estime_metric.stats.checks import alike, check_systems


def plot_trade_off(
    x: ArrayLike,
    y: ArrayLike,
    systems: Sequence[str],
    intervals: ArrayLike | None = None,
    *,
    x_label: str,
    y_label: str,
    title: str,
) -> Figure:
    """Two numbers of each system, (s,), against each other, with names and vertical ``intervals``,
    (s, 2), if given.
    """
    points = np.column_stack(alike(1, x=x, y=y))
    names = check_systems(systems, len(points))
    figure = new_figure(WIDTH, 4.2)
    axes = figure.add_subplot()
    if intervals is not None:
        axes.vlines(
            points[:, 0],
            *np.asarray(intervals, dtype=np.float64).T,
            color=GRAY,
            linewidth=0.8,
            zorder=1,
        )
    make_grid(axes, x_label, y_label, title)
    named_points(figure, axes, points, names)
    return figure
