"""The bias matrix as a picture (Steen & Markert 2022, Figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure

from estime_metric.meta.bias import BiasMatrix
from estime_metric.meta.plots.style import GREY, LABEL, PALE, TICK, TITLE, WIDTH


def plot_bias(bias: BiasMatrix, measure: str, names: Mapping[str, str] | None = None) -> Figure:
    """A bias matrix: circles in the colour of tau and of an area in proportion to the number of pairs.

    Rows and columns run from the best system to the worst. Consistent pairs are above the diagonal, the same pairs
    inverted below it, so that a system which the measure prefers whatever it writes has a blue row to the right of
    the diagonal and a red column below it. A small cross marks a cell without pairs.

    Args:
        bias: of at least one system.
        measure: name of the measure, for the title.
        names: system -> the name to print; those that are missing are printed as they are.
    """
    size = len(bias.systems)
    if not size:
        raise ValueError("Expected argument `bias` to hold at least one system, but got none.")
    labels = [(names or {}).get(system, system) for system in bias.systems]
    figure, axes, bar = _square(max(len(label) for label in labels))
    counts, matrix = bias.counts, bias.matrix
    rows, columns = np.nonzero(counts)
    largest = max(int(counts.max()), 1)
    circles = _circles(axes, columns, rows, counts[rows, columns] / largest, cmap="RdBu", linewidths=0.4)
    circles.set_array(matrix[rows, columns])
    circles.set_clim(-1.0, 1.0)
    empty = np.argwhere((counts == 0) & ~np.eye(size, dtype=bool))
    axes.scatter(empty[:, 1], empty[:, 0], marker="x", s=9, linewidths=0.6, color=GREY)
    axes.plot([-0.5, size - 0.5], [-0.5, size - 0.5], color=PALE, linewidth=0.8, zorder=0)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    axes.set_xticks(range(size), labels, rotation=90, fontsize=TICK)
    axes.set_yticks(range(size), labels, fontsize=TICK)
    axes.tick_params(length=0)
    compared = "of one document" if bias.compared == "same_document" else "of all documents"
    figure.text(0.015, 0.99, f"Bias matrix of {measure}", fontsize=TITLE, fontweight="bold", va="top")
    figure.text(
        0.015, 0.955, f"Pairs of summaries {compared}; systems from the best mean judgement to the worst.\n"
        "Above the diagonal (τ+) the better system, the row, wrote the better summary; below (τ−) the worse one did.",
        fontsize=TICK, va="top", linespacing=1.4,
    )  # fmt: skip
    figure.colorbar(circles, cax=bar, ticks=[-1.0, -0.5, 0.0, 0.5, 1.0])
    bar.set_yticklabels(["−1  all wrong", "−0.5", "0", "0.5", "1  all right"], fontsize=TICK)
    bar.set_title("τ", fontsize=LABEL)
    _key_of_sizes(axes, size, largest)
    return figure


def _square(longest: int) -> tuple[Figure, Axes, Axes]:
    """A figure with a square for a matrix whose longest label has ``longest`` characters, and axes for a colour bar."""
    margin = 0.14 + 0.56 * TICK * longest / 72  # inches
    right, top = 1.3, 0.68
    side = max(WIDTH - margin - right, 2.4)
    width, height = margin + side + right, margin + side + top
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((margin / width, margin / height, side / width, side / height))
    low, tall = margin + 0.04 * side, 0.5 * side
    bar = figure.add_axes(((margin + side + 0.22) / width, low / height, 0.14 / width, tall / height))
    return figure, axes, bar


def _circles(axes: Axes, x: Any, y: Any, shares: Any, **style: Any) -> EllipseCollection:
    """Circles at (x, y) whose areas are the shares of one that nearly fills its cell."""
    diameters = 0.95 * np.sqrt(np.asarray(shares, dtype=np.float64))
    made = EllipseCollection(
        diameters, diameters, np.zeros(len(diameters)), units="x", offsets=np.column_stack([x, y]),
        transOffset=axes.transData, edgecolors=GREY, **style,
    )  # fmt: skip
    axes.add_collection(made, autolim=False)
    return made


def _key_of_sizes(axes: Axes, size: int, largest: int) -> None:
    """Circles of the largest count and of a quarter of it, to the right of the matrix."""
    cell = size / 16  # what a cell of SummEval's matrix measures here
    right = size - 0.5 + 1.0 * cell
    axes.text(right - 0.35 * cell, -0.5 + 0.5 * cell, "pairs", fontsize=LABEL, va="center", clip_on=False)
    for index, count in enumerate(dict.fromkeys((largest, max(largest // 4, 1)))):
        y = -0.5 + (1.7 + 1.15 * index) * cell
        _circles(axes, [right], [y], [count / largest], facecolors="white", linewidths=0.8, clip_on=False)
        axes.text(right + max(0.9 * cell, 0.6), y, f"{count:,}", fontsize=TICK, va="center", clip_on=False)
