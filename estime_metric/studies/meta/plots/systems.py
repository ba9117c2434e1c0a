"""Pictures by system: bias matrix, agreement within each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from estime_metric.report.style import (
    COLORS,
    GRAY,
    LABEL,
    TICK,
    TITLE,
    WIDTH,
    make_grid,
    new_figure,
)
from estime_metric.studies.meta.bias import BiasMatrix

_WIDEST = (
    26  # widest circle of a bias matrix, in points: the key next to the matrix has room for it
)


def plot_bias(bias: BiasMatrix, measure: str) -> Figure:
    """A bias matrix (Steen & Markert 2022, Figures 2 and 3): circles in the color of tau, their
    areas in proportion to the numbers of pairs, a small cross for none.

    Consistent pairs are above the diagonal, inverted pairs below it: a system that the measure
    always prefers has a blue row and a red column. ``bias`` contains at least one system;
    ``measure`` is its name, for the title.
    """
    size = len(bias.systems)
    labels = bias.systems
    margin, right, top = 0.14 + 0.56 * TICK * max(map(len, labels)) / 72, 1.3, 0.68  # inches
    side = max(WIDTH - margin - right, 2.4)
    width, height = margin + side + right, margin + side + top
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((margin / width, margin / height, side / width, side / height))
    bar = axes.inset_axes((1 + 0.22 / side, 0.04, 0.14 / side, 0.5))
    counts, matrix, widest = bias.counts, bias.matrix, min(0.95 * 72 * side / size, _WIDEST)
    (rows, columns), largest = np.nonzero(counts), max(int(counts.max()), 1)
    circles = axes.scatter(
        columns,
        rows,
        s=widest**2 * counts[rows, columns] / largest,
        c=matrix[rows, columns],
        cmap="RdBu",
        vmin=-1.0,
        vmax=1.0,
        edgecolors=GRAY,
        linewidths=0.4,
    )
    empty = np.argwhere((counts == 0) & ~np.eye(size, dtype=bool))
    axes.scatter(empty[:, 1], empty[:, 0], marker="x", s=9, linewidths=0.6, color=GRAY)
    axes.plot(
        [-0.5, size - 0.5], [-0.5, size - 0.5], color=GRAY, alpha=0.45, linewidth=0.8, zorder=0
    )
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    axes.set_xticks(range(size), labels, rotation=90, fontsize=TICK)
    axes.set_yticks(range(size), labels, fontsize=TICK)
    axes.tick_params(length=0)
    compared = "of one document" if bias.compared == "same_document" else "of all documents"
    figure.text(
        0.015, 0.99, f"Bias matrix of {measure}", fontsize=TITLE, fontweight="bold", va="top"
    )
    figure.text(
        0.015,
        0.955,
        f"Pairs of summaries {compared}; systems from the best mean judgement to the worst.\n"
        "Above the diagonal (τ+) the better system, the row, wrote the better summary; below (τ−) the worse one did.",
        fontsize=TICK,
        va="top",
        linespacing=1.4,
    )
    figure.colorbar(circles, cax=bar, ticks=[-1.0, -0.5, 0.0, 0.5, 1.0])
    bar.set_yticklabels(["−1  all wrong", "−0.5", "0", "0.5", "1  all right"], fontsize=TICK)
    bar.set_title("τ", fontsize=LABEL)
    if len(rows):
        for count in dict.fromkeys((largest, max(largest // 4, 1))):
            area = widest**2 * count / largest
            axes.scatter(
                [], [], s=area, color="white", edgecolors=GRAY, linewidths=0.8, label=f"{count:,}"
            )
        axes.legend(
            title="pairs",
            loc="upper left",
            bbox_to_anchor=(1, 1),
            frameon=False,
            fontsize=TICK,
            title_fontsize=LABEL,
            alignment="left",
            handlelength=widest / TICK,
            handleheight=widest / TICK,
            scatteryoffsets=[0.15],
        )
    return figure


def plot_intra_system(
    values: Mapping[str, ArrayLike],
    systems: Sequence[str],
    intervals: Mapping[str, ArrayLike],
    title: str,
) -> Figure:
    """Bars with intervals: one panel for each measure, one bar for each of s systems, all on one
    scale. ``values``: measure -> (s,) values of Kendall's tau-b, ``intervals``: measure -> (s, 2)
    lower and upper ends, NaN if there is none; a measure without an entry has bars alone."""
    figure = new_figure(WIDTH, 1.5 + 1.05 * len(values), title)
    panels = figure.subplots(len(values), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for panel, (measure, of_measure) in zip(panels, values.items(), strict=True):
        heights = np.asarray(of_measure, dtype=np.float64)
        mean = float(np.nanmean(heights)) if not np.isnan(heights).all() else float("nan")
        panel.bar(range(len(systems)), heights, width=0.72, color=COLORS[0])
        if measure in intervals:
            ends = np.asarray(intervals[measure], dtype=np.float64)
            bars = np.flatnonzero(np.isfinite(ends).all(axis=1))
            middle, half = ends[bars].mean(axis=1), np.ptp(ends[bars], axis=1) / 2
            panel.errorbar(
                bars, middle, half, fmt="none", ecolor="black", elinewidth=1.0, capsize=3
            )
        panel.axhline(0.0, color="black", linewidth=0.8)
        panel.axhline(mean, color=COLORS[1], linewidth=1.1, linestyle="--")
        panel.set_title(f"{measure}   (mean {mean:.2f})", fontsize=LABEL, loc="left", pad=3)
        make_grid(panel, lines="y")
    panels[-1].set_xlim(-0.6, len(systems) - 0.4)
    panels[-1].set_xticks(
        range(len(systems)), systems, rotation=45, ha="right", rotation_mode="anchor", fontsize=TICK
    )
    figure.supylabel("Kendall's τ-b", fontsize=LABEL)
    return figure
