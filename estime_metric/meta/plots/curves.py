"""Curves: over the layers of an encoder, and by a length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from estime_metric.meta.checks import Floats
from estime_metric.meta.plots.labels import labels_at_the_right
from estime_metric.meta.plots.style import (
    COLOURS,
    GREY,
    LABEL,
    MARKERS,
    PALE,
    TICK,
    WIDTH,
    make_plain,
    new_figure,
    set_title,
)
from estime_metric.meta.shuffle import LengthCurve


def plot_layers(
    curves: Mapping[str, ArrayLike],
    layers: Sequence[int],
    statistic: str,
    title: str = "Agreement with the judgements by layer",
    others: Mapping[str, ArrayLike] | None = None,
    kinds: tuple[str, str] = ("", ""),
) -> Figure:
    """Curves over the layers of an encoder (Vasilyev & Bohannon 2021, appendix A), the best layer of each ringed.

    Args:
        curves: what was judged -> (l,) values, thick lines; NaN leaves a gap.
        layers: the ``l`` layers, rising.
        statistic: what the values are, for the axis.
        title: of the figure.
        others: a second set to compare with, thin dashed lines in the same colours (appendices B to F).
        kinds: what the thick and the thin lines are.

    Raises:
        ValueError: there is no curve, or a curve has another number of values than there are layers.
    """
    if not curves:
        raise ValueError("Expected argument `curves` to hold at least one curve, but got none.")
    figure = new_figure(WIDTH, 3.9)
    axes = figure.add_subplot()
    ends: list[tuple[float, str, str]] = []
    for index, (label, given) in enumerate(curves.items()):
        heights = _curve(given, label, layers)
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        axes.plot(layers, heights, color=colour, marker=marker, markersize=4, linewidth=2.0)
        if not np.isnan(heights).all():
            best = int(np.nanargmax(heights))
            axes.plot(layers[best], heights[best], "o", markersize=11, markerfacecolor="none", color=colour)
            last = int(np.flatnonzero(~np.isnan(heights))[-1])
            ends.append((float(heights[last]), f"{label} (best: {layers[best]})", colour))
        if others is not None and label in others:
            axes.plot(layers, _curve(others[label], label, layers), color=colour, linewidth=0.9, linestyle="--")
    labels_at_the_right(axes, ends)
    axes.set_xlabel("layer", fontsize=LABEL)
    axes.set_ylabel(statistic, fontsize=LABEL)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(color=PALE, linewidth=0.4)
    make_plain(axes)
    if others is not None:
        handles = [
            axes.plot([], [], color=GREY, linewidth=width, linestyle=style, label=kind)[0]
            for kind, width, style in zip(kinds, (2.0, 0.9), ("-", "--"), strict=True)
            if kind
        ]
        if handles:
            axes.legend(handles=handles, fontsize=TICK, frameon=False, loc="lower center")
    set_title(axes, title)
    return figure


def plot_length_curves(
    curves: Mapping[str, LengthCurve],
    title: str = "Accuracy on shuffled texts by difference in length",
    x_label: str = "original longer by (characters)",
    y_label: str = "accuracy",
    chance: float | None = 0.5,
) -> Figure:
    """Curves by a length (Steen & Markert 2022, Figure 4), with a dotted line at chance.

    Raises:
        ValueError: there is no curve.
    """
    if not curves:
        raise ValueError("Expected argument `curves` to hold at least one curve, but got none.")
    figure = new_figure(WIDTH, 3.6)
    axes = figure.add_subplot()
    ends = []
    for index, (label, curve) in enumerate(curves.items()):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        axes.plot(curve.lengths, curve.means, color=colour, marker=marker, markersize=4, linewidth=1.5)
        if len(curve.means):
            ends.append((float(curve.means[-1]), label, colour))
    if chance is not None:
        axes.axhline(chance, color=GREY, linewidth=0.8, linestyle=":")
    labels_at_the_right(axes, ends)
    axes.set_xlabel(x_label, fontsize=LABEL)
    axes.set_ylabel(y_label, fontsize=LABEL)
    axes.grid(color=PALE, linewidth=0.4)
    make_plain(axes)
    set_title(axes, title)
    return figure


def _curve(values: ArrayLike, label: str, layers: Sequence[int]) -> Floats:
    heights = np.asarray(values, dtype=np.float64)
    if heights.shape != (len(layers),):
        raise ValueError(
            f"Expected argument `curves` to hold {len(layers)} values of {label!r}, one for each layer, "
            f"but got shape {heights.shape}."
        )
    return heights
