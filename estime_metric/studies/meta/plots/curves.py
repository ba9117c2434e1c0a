"""Curves over the layers of an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from estime_metric.report.style import (
    COLORS,
    GRAY,
    MARKERS,
    TICK,
    WIDTH,
    make_grid,
    new_figure,
)


def plot_layers(
    curves: Mapping[str, ArrayLike],
    layers: Sequence[int],
    statistic: str,
    title: str,
    others: Mapping[str, ArrayLike] | None = None,
    kinds: tuple[str, str] = ("", ""),
) -> Figure:
    """Curves over the layers of an encoder (Vasilyev & Bohannon 2021, appendix A), the best layer
    of each ringed. ``curves``: what was judged -> a value for each of the rising ``layers``, thick
    lines, NaN leaves a gap; ``others``: a second set to compare with, thin dashed lines in the same
    colors (appendices B to F); ``kinds``: what the thick and the thin lines are; ``statistic``:
    what the values are, for the axis."""
    figure = new_figure(WIDTH, 3.9)
    axes = figure.add_subplot()
    ends = []
    for number, (label, values) in enumerate(curves.items()):
        heights = np.asarray(values, dtype=np.float64)
        color, marker = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)]
        axes.plot(layers, heights, color=color, marker=marker, markersize=4, linewidth=2.0)
        if not np.isnan(heights).all():
            best = int(np.nanargmax(heights))
            axes.plot(
                layers[best],
                heights[best],
                "o",
                markersize=11,
                markerfacecolor="none",
                color=color,
            )
            last = int(np.flatnonzero(~np.isnan(heights))[-1])
            ends.append(_End(float(heights[last]), f"{label} (best: {layers[best]})", color))
        if others is not None and label in others:
            axes.plot(
                layers,
                np.asarray(others[label], dtype=np.float64),
                color=color,
                linewidth=0.9,
                linestyle="--",
            )
    _label_ends(axes, ends)
    make_grid(axes, "layer", statistic, title)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if others is not None and any(kinds):
        for kind, width, dashes in zip(kinds, (2.0, 0.9), ("-", "--"), strict=True):
            axes.plot([], [], color=GRAY, linewidth=width, linestyle=dashes, label=kind)
        axes.legend(fontsize=TICK, frameon=False, loc="lower center")
    return figure


class _End(NamedTuple):
    """The end of a curve: its height, and the curve's label and color."""

    height: float
    label: str
    color: str


def _label_ends(axes: Axes, ends: Sequence[_End]) -> None:
    """Names of curves at their ends, spread out if they would overlap."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    step = 0.062 * (high - low)
    ordered = sorted(ends)
    heights: list[float] = []
    for end in ordered:
        heights.append(max(end.height, heights[-1] + step) if heights else end.height)
    ceiling = high
    for number in reversed(range(len(heights))):
        heights[number] = min(heights[number], ceiling)
        ceiling = heights[number] - step
    for height, end in zip(heights, ordered, strict=True):
        axes.annotate(
            end.label,
            (1.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=TICK,
            color=end.color,
            va="center",
            fontweight="bold",
            annotation_clip=False,
        )
