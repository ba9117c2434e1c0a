"""The picture of a comparison: a measure against copying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from estime_metric.checks import check_choice
from estime_metric.compare.differences import Comparison
from estime_metric.show.cells import with_direction
from estime_metric.show.plot import GRAY, ORANGE, TICK, WIDTH, make_grid, new_figure
from estime_metric.table.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_copying(comparison: Comparison, measure: str) -> Figure:
    """A compared measure against `copied_density`, one point per system with the 95% interval of the
    measure.

    ValueError: the measure was not compared, or the copying of a system is not known.
    """
    systems = comparison.systems
    for name in systems.index[systems["copied_density"].isna()]:
        raise ValueError(
            f"Expected a column 'copied_density' for the plot, but {name} has none. Score it again."
        )
    check_choice("measure", measure, comparison.measures)
    means = comparison.means.query("measure == @measure")
    figure = new_figure(WIDTH, 4.2)
    axes = figure.add_subplot()
    density = systems["copied_density"]
    axes.vlines(density, means["low"], means["high"], color=GRAY, linewidth=0.8, zorder=1)
    make_grid(
        axes,
        "copied_density: mean length of the runs that are copied, in words",
        f"mean of {with_direction(measure, comparison.higher_is_better[measure])}",
        f"{measure} against copying",
    )
    points = np.column_stack([density, means["mean"]])
    _draw_named_points(axes, points, systems.index)
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    definition = comparison.definitions[measure]
    least = bottom if definition is None else definition.low
    # Values that are not possible have no tick.
    axes.set_xticks([tick for tick in axes.get_xticks() if max(left, 0) <= tick <= right])
    axes.set_yticks([tick for tick in axes.get_yticks() if max(bottom, least) <= tick <= top])
    return figure


def _draw_named_points(axes: Axes, points: Floats, names: Sequence[str]) -> None:
    """Points, (n, 2), each with its name on the side that is away from the nearest other point."""
    axes.scatter(points[:, 0], points[:, 1], s=26, color=ORANGE, edgecolors="white", zorder=3)
    axes.margins(0.16, 0.12)
    extent = np.ptp(points, axis=0)
    places = points / np.where(extent > 0, extent, 1.0)
    distances = np.linalg.norm(places[:, None] - places, axis=-1)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argmin(axis=1)
    for point, other, name in zip(points, points[nearest], names, strict=True):
        is_right = point[0] >= other[0]
        axes.annotate(
            name,
            tuple(point),
            (5 if is_right else -5, 0),
            textcoords="offset points",
            fontsize=TICK,
            ha="left" if is_right else "right",
            va="center",
            zorder=4,
            parse_math=False,  # a name may have dollars
        )
