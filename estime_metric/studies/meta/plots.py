"""Pictures of a meta-evaluation, for paper and screen: each function takes data and returns a
matplotlib ``Figure``.

They do not touch pyplot, styles or windows. Sizes fit a page at full width; no color has a meaning
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from estime_metric._messages import needs_extra
from estime_metric.show.plot import (
    GRAY,
    LABEL,
    TICK,
    TITLE,
    WIDTH,
    make_grid,
    new_figure,
)
from estime_metric.studies.meta.bias import BiasMatrix

with needs_extra("plot", "Plots need matplotlib"):
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

#: Okabe and Ito's colors, without the yellow that is lost on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_MATRIX, _WIDEST = 230, 26  # in points: the width of a bias matrix, and of its widest circle


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


def plot_bias(bias: BiasMatrix, measure: str) -> Figure:
    """A bias matrix (Steen & Markert 2022, Figures 2 and 3): circles in the color of tau, their
    areas in proportion to the numbers of pairs, a small cross for none.

    Consistent pairs are above the diagonal, inverted pairs below it: a system that the measure
    always prefers has a blue row and a red column. ``bias`` contains at least one system;
    ``measure`` is its name, for the title.
    """
    size, counts, matrix = len(bias.systems), bias.counts, bias.matrix
    compared = "of one document" if bias.compared == "same_document" else "of all documents"
    largest = max(int(counts.max()), 1)
    figure = _titled(WIDTH * 0.95, f"Bias matrix of {measure}")
    axes = figure.add_subplot(aspect="equal")
    figure.supxlabel(
        f"Pairs of summaries {compared}, at most {largest}; systems from the best mean judgement to the worst.\n"
        "Above the diagonal (τ+) the better system, the row, wrote the better summary; below (τ−) "
        "the worse one did.",
        fontsize=TICK,
        x=0.02,
        ha="left",
    )
    rows, columns = np.nonzero(counts)
    area = min(_MATRIX / size, _WIDEST) ** 2 / largest  # of a circle, per pair
    circles = axes.scatter(
        columns,
        rows,
        s=area * counts[rows, columns],
        c=matrix[rows, columns],
        cmap="RdBu",
        vmin=-1.0,
        vmax=1.0,
        edgecolors=GRAY,
        linewidths=0.4,
    )
    empty = np.argwhere((counts == 0) & ~np.eye(size, dtype=bool))
    axes.scatter(empty[:, 1], empty[:, 0], marker="x", s=9, linewidths=0.6, color=GRAY)
    axes.axline((0, 0), slope=1, color=GRAY, alpha=0.45, linewidth=0.8, zorder=0)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    axes.set_xticks(range(size), bias.systems, rotation=90, fontsize=TICK)
    axes.set_yticks(range(size), bias.systems, fontsize=TICK)
    bar = figure.colorbar(circles, ax=axes, shrink=0.5, anchor=(0, 0), ticks=[-1, -0.5, 0, 0.5, 1])
    labels = ["−1  all wrong", "−0.5", "0", "0.5", "1  all right"]
    bar.ax.set_yticklabels(labels, fontsize=TICK)
    bar.ax.set_title("τ", fontsize=LABEL)
    return figure


def plot_intra_system(
    agreement: Mapping[str, pd.DataFrame], systems: Sequence[str], title: str
) -> Figure:
    """Bars with intervals: one panel for each measure, one bar for each of s systems, all on one
    scale. ``agreement``: measure -> a row for each system, ``value``, Kendall's tau-b, ``low`` and
    ``high``, NaN if there is none."""
    figure = _titled(1.5 + 1.05 * len(agreement), title)
    panels = figure.subplots(len(agreement), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    places = np.arange(len(systems))
    for panel, (measure, rows) in zip(panels, agreement.items(), strict=True):
        low, high, mean = rows["low"].to_numpy(), rows["high"].to_numpy(), rows["value"].mean()
        panel.bar(places, rows["value"], width=0.72, color=COLORS[0])
        panel.errorbar(
            places,
            (low + high) / 2,
            (high - low) / 2,
            fmt="none",
            ecolor="black",
            elinewidth=1.0,
            capsize=3,
        )
        panel.axhline(0.0, color="black", linewidth=0.8)
        panel.axhline(mean, color=COLORS[1], linewidth=1.1, linestyle="--")
        panel.set_title(f"{measure}   (mean {mean:.2f})", fontsize=LABEL, loc="left", pad=3)
        make_grid(panel)
        panel.grid(visible=False, axis="x")
    panels[-1].set_xlim(-0.6, len(systems) - 0.4)
    panels[-1].set_xticks(
        places, systems, rotation=45, ha="right", rotation_mode="anchor", fontsize=TICK
    )
    figure.supylabel("Kendall's τ-b", fontsize=LABEL)
    return figure


def _titled(height: float, title: str) -> Figure:
    """An empty figure of this height in inches, with a bold title at the left."""
    figure = new_figure(WIDTH, height)
    figure.suptitle(title, fontsize=TITLE, fontweight="bold", x=0.02, ha="left")
    return figure
