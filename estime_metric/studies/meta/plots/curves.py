"""Curves: over the layers of an encoder, by a length, over the thresholds of a score."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from estime_metric.comparison.checks import Floats
from estime_metric.comparison.plots.style import (
    COLORS,
    GRAY,
    MARKERS,
    TICK,
    WIDTH,
    make_grid,
    new_figure,
)
from estime_metric.studies.meta.shuffle import LengthCurve

T = TypeVar("T")


def plot_layers(
    curves: Mapping[str, ArrayLike],
    layers: Sequence[int],
    statistic: str,
    title: str = "Agreement with the judgements by layer",
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
    for (label, given), color, marker in _styled(curves):
        heights = _curve(given, label, layers)
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
            ends.append((float(heights[last]), f"{label} (best: {layers[best]})", color))
        if others is not None and label in others:
            axes.plot(
                layers,
                _curve(others[label], label, layers),
                color=color,
                linewidth=0.9,
                linestyle="--",
            )
    _label_ends(axes, ends)
    make_grid(axes, "layer", statistic, title)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if others is not None and any(kinds):
        for kind, width, style in zip(kinds, (2.0, 0.9), ("-", "--"), strict=True):
            axes.plot([], [], color=GRAY, linewidth=width, linestyle=style, label=kind)
        axes.legend(fontsize=TICK, frameon=False, loc="lower center")
    return figure


def plot_length_curves(
    curves: Mapping[str, LengthCurve],
    title: str = "Accuracy on shuffled texts by difference in length",
    x_label: str = "original longer by (characters)",
    y_label: str = "accuracy",
    chance: float | None = 0.5,
) -> Figure:
    """Curves by a length (Steen & Markert 2022, Figure 4), with a dotted line at chance."""
    figure = new_figure(WIDTH, 3.6)
    axes = figure.add_subplot()
    ends = []
    for (label, curve), color, marker in _styled(curves):
        axes.plot(
            curve.lengths, curve.means, color=color, marker=marker, markersize=4, linewidth=1.5
        )
        if len(curve.means):
            ends.append((float(curve.means[-1]), label, color))
    if chance is not None:
        axes.axhline(chance, color=GRAY, linewidth=0.8, linestyle=":")
    _label_ends(axes, ends)
    make_grid(axes, x_label, y_label, title)
    return figure


def _styled(curves: Mapping[str, T]) -> list[tuple[tuple[str, T], str, str]]:
    """Names and curves, each with a color and a marker."""
    if not curves:
        raise ValueError("Expected argument `curves` to contain at least one curve, but got none.")
    return list(
        zip(curves.items(), itertools.cycle(COLORS), itertools.cycle(MARKERS), strict=False)
    )


def _curve(values: ArrayLike, label: str, layers: Sequence[int]) -> Floats:
    heights = np.asarray(values, dtype=np.float64)
    if heights.shape != (len(layers),):
        raise ValueError(
            f"Expected argument `curves` to contain {len(layers)} values of {label!r}, one for each layer, "
            f"but got shape {heights.shape}."
        )
    return heights


def _label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Names of curves beside their ends, spread out where they would overlap; an end is a height,
    name and color.
    """
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    step = 0.062 * (high - low)
    heights: list[float] = []
    for height, _, _ in sorted(ends):
        heights.append(max(height, heights[-1] + step) if heights else height)
    ceiling = high
    for number in reversed(range(len(heights))):
        heights[number] = min(heights[number], ceiling)
        ceiling = heights[number] - step
    for height, (_, label, color) in zip(heights, sorted(ends), strict=True):
        axes.annotate(
            label,
            (1.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=TICK,
            color=color,
            va="center",
            fontweight="bold",
            annotation_clip=False,
        )
