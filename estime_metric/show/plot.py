"""What all pictures share: sizes, colors, an empty figure, titles and axes, and how it is written
to disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from estime_metric._messages import needs_extra
from estime_metric.measures import MEASURES, measure_of
from estime_metric.table.arrays import Floats
from estime_metric.table.output import is_standard, replaced

with needs_extra("plot", "Plots need matplotlib"):
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from estime_metric.compare.differences import Comparison

GRAY, PALE, ORANGE = "#666666", "#BBBBBB", "#D55E00"

#: The formats that figures are written in, and what would otherwise differ from run to run.
_METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}

WIDTH = 6.5  # width of a figure in inches: the text of an A4 page

#: Sizes of letters in points.
TITLE, LABEL, TICK = 10, 9, 8


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def make_grid(axes: Axes, x_label: str = "", y_label: str = "", title: str = "") -> None:
    """Two spines with small numbers, labels and perhaps a bold title, and a pale grid behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=TICK)
    axes.set_xlabel(x_label, fontsize=LABEL)
    axes.set_ylabel(y_label, fontsize=LABEL, parse_math=False)
    axes.grid(color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    if title:
        axes.set_title(title, fontsize=TITLE, fontweight="bold", loc="left", parse_math=False)


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


def plot_copying(comparison: Comparison, measure: str) -> Figure:
    """A compared measure against `copied_density`, one point per system with the 95% interval of the
    measure.

    ValueError: the measure was not compared, or the copying of a system is not known.
    """
    systems = comparison.systems.loc[comparison.ranking(measure)]
    for name in systems.index[systems["copied_density"].isna()]:
        raise ValueError(
            f"Expected a column 'copied_density' for the plot, but {name} has none. Score it again."
        )
    figure = new_figure(WIDTH, 4.2)
    axes = figure.add_subplot()
    means = [comparison.interval(measure, name) for name in systems.index]
    ends = [mean.low for mean in means], [mean.high for mean in means]
    axes.vlines(systems["copied_density"], *ends, color=GRAY, linewidth=0.8, zorder=1)
    better = {True: " (higher is better)", False: " (lower is better)", None: ""}
    make_grid(
        axes,
        "copied_density: mean length of the runs that are copied, in words",
        f"mean of {measure}{better[comparison.higher_is_better[measure]]}",
        f"{measure} against copying",
    )
    points = systems[["copied_density"]].assign(mean=[mean.mean for mean in means])
    _draw_named_points(axes, points.to_numpy(), systems.index)
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    definition = MEASURES.get(measure_of(measure))
    least = bottom if definition is None else definition.low
    # Values that are not possible have no tick.
    axes.set_xticks([tick for tick in axes.get_xticks() if max(left, 0) <= tick <= right])
    axes.set_yticks([tick for tick in axes.get_yticks() if max(bottom, least) <= tick <= top])
    return figure


def save(figure: Figure, path: str | Path) -> tuple[Path, ...]:
    """Writes a figure in the format that the ending of ``path`` names, .png (200 dots per inch),
    .svg or .pdf, or as .png and as .svg if it names none; returns what was written. The same figure
    gives the same bytes. ValueError: ``path`` means standard output. OSError: it cannot be written.
    """
    path = Path(path)
    if is_standard(path):
        raise ValueError(
            f"Expected argument `path` to be a file for the figure, but got {str(path)!r}, which "
            "means standard output."
        )
    if path.suffix.lower() in _METADATA:
        paths: tuple[Path, ...] = (path,)
    else:
        paths = tuple(path.with_name(path.name + ending) for ending in (".png", ".svg"))
    with matplotlib.rc_context({"svg.hashsalt": "estime"}):
        for file in paths:
            ending = file.suffix.lower()
            with replaced(file) as unfinished:
                figure.savefig(unfinished, dpi=200, format=ending[1:], metadata=_METADATA[ending])
    return paths
