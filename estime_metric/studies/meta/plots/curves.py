"""Curves over the layers of an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from estime_metric.show.plot import (
    COLORS,
    GRAY,
    TICK,
    WIDTH,
    make_grid,
    new_figure,
)

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def plot_layers(
    curves: Mapping[str, ArrayLike],
    layers: Sequence[int],
    statistic: str,
    title: str,
    others: Mapping[str, ArrayLike] | None = None,
    other_layers: Sequence[float] = (),
    kinds: tuple[str, str] = ("", ""),
) -> Figure:
    """Curves over the layers of an encoder (Vasilyev & Bohannon 2021, appendix A), the best layer
    of each ringed. ``curves``: what was judged -> a value for each of the rising ``layers``, thick
    lines, NaN leaves a gap, and the legend names a curve without a value; ``others``: a second set to compare with, over ``other_layers``, thin
    dashed lines in the same colors (appendices B to F); ``kinds``: what the thick and the thin lines are; ``statistic``:
    what the values are, for the axis."""
    figure = new_figure(WIDTH, 3.9)
    axes = figure.add_subplot()
    for number, (label, values) in enumerate(curves.items()):
        heights = np.asarray(values, dtype=np.float64)
        color, marker = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)]
        (line,) = axes.plot(layers, heights, color=color, marker=marker, markersize=4, linewidth=2)
        if not np.isnan(heights).all():
            best = int(np.nanargmax(heights))
            line.set_label(f"{label} (best: {layers[best]})")
            axes.plot(
                layers[best], heights[best], "o", markersize=11, fillstyle="none", color=color
            )
        else:
            line.set_label(f"{label} (none)")
        if others and label in others:
            axes.plot(other_layers, others[label], color=color, linewidth=0.9, linestyle="--")
    if any(kinds):
        for kind, width, dashes in zip(kinds, (2.0, 0.9), ("-", "--"), strict=True):
            axes.plot([], [], color=GRAY, linewidth=width, linestyle=dashes, label=kind)
    make_grid(axes, "layer", statistic, title)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(fontsize=TICK, frameon=False, loc="outside right center")
    return figure
