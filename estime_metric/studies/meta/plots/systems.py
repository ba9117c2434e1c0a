"""Pictures by system: bias matrix, agreement within each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from estime_metric.show.plot import (
    COLORS,
    GRAY,
    LABEL,
    TICK,
    WIDTH,
    make_grid,
    new_figure,
)
from estime_metric.studies.meta.bias import BiasMatrix

_MATRIX, _WIDEST = 230, 26  # in points: the width of a bias matrix, and of its widest circle


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
    figure = new_figure(WIDTH, WIDTH * 0.95, f"Bias matrix of {measure}")
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
    figure = new_figure(WIDTH, 1.5 + 1.05 * len(agreement), title)
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
        make_grid(panel, lines="y")
    panels[-1].set_xlim(-0.6, len(systems) - 0.4)
    panels[-1].set_xticks(
        places, systems, rotation=45, ha="right", rotation_mode="anchor", fontsize=TICK
    )
    figure.supylabel("Kendall's τ-b", fontsize=LABEL)
    return figure
