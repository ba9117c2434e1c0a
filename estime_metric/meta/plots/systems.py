"""Pictures by system: agreement within each, score against judgement, lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from estime_metric.meta.bias import check_systems
from estime_metric.meta.checks import Floats, finite, two_grids
from estime_metric.meta.plots.labels import labels_beside
from estime_metric.meta.plots.style import (
    COLOURS,
    GREY,
    LABEL,
    PALE,
    TICK,
    TITLE,
    WIDTH,
    make_plain,
    new_figure,
    set_title,
)  # fmt: skip


def plot_intra_system(
    values: Mapping[str, ArrayLike],
    systems: Sequence[str],
    intervals: Mapping[str, ArrayLike] | None = None,
    statistic: str = "Kendall's τ-b",
    title: str = "Agreement with the judgements within each system",
) -> Figure:
    """Bars with intervals: one panel for each measure, one bar for each system, all on one scale.

    Args:
        values: measure -> (s,) values, NaN where a system has none.
        systems: names of the ``s`` systems, printed in this order.
        intervals: measure -> (s, 2) lower and upper ends, NaN where there is none; none at all where left out.
        statistic: what the values are, for the axis.
        title: of the figure.

    Raises:
        ValueError: there is no measure, or values or intervals do not fit the systems.
    """
    if not values:
        raise ValueError("Expected argument `values` to hold at least one measure, but got none.")
    names = check_systems(systems, len(systems))
    figure = new_figure(WIDTH, 1.5 + 1.05 * len(values))
    panels = figure.subplots(len(values), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for panel, (measure, given) in zip(panels, values.items(), strict=True):
        heights = np.asarray(given, dtype=np.float64)
        if heights.shape != (len(names),):
            raise ValueError(
                f"Expected argument `values` to hold {len(names)} values of {measure!r}, but got shape {heights.shape}."
            )
        mean = float(np.nanmean(heights)) if not np.isnan(heights).all() else float("nan")
        panel.bar(range(len(names)), heights, width=0.72, color=COLOURS[0])
        if intervals is not None and measure in intervals:
            _whiskers(panel, heights, np.asarray(intervals[measure], dtype=np.float64), measure)
        panel.axhline(0.0, color="black", linewidth=0.8)
        panel.axhline(mean, color=COLOURS[1], linewidth=1.1, linestyle="--")
        panel.set_title(f"{measure}   (mean {mean:.2f})", fontsize=LABEL, loc="left", pad=3)
        make_plain(panel)
        panel.grid(axis="y", color=PALE, linewidth=0.4)
        panel.set_axisbelow(True)
    panels[-1].set_xlim(-0.6, len(names) - 0.4)
    panels[-1].set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor", fontsize=TICK)
    figure.supylabel(statistic, fontsize=LABEL)
    figure.suptitle(title, fontsize=TITLE, fontweight="bold", x=0.02, ha="left")
    return figure


def plot_scores(
    scores: ArrayLike,
    judgements: ArrayLike,
    systems: Sequence[str],
    measure: str,
    judgement: str,
    title: str | None = None,
) -> Figure:
    """Score against judgement, twice: every summary on the left, the systems' means with their names on the right.

    Args:
        scores: (d, s) scores of the measure, at least one document and one system.
        judgements: (d, s) judgements.
        systems: names to print.
        measure, judgement: what they are, for the axes.
        title: of the figure; made of the two where left out.

    Raises:
        TypeError, ValueError: they are no finite tables of one shape, empty, or the names do not fit.
    """
    x, y = two_grids(scores, judgements)
    names = check_systems(systems, x.shape[1])
    if not x.size:
        raise ValueError(f"Expected argument `scores` to hold at least one summary, but got shape {x.shape}.")
    figure = new_figure(WIDTH, 4.2)
    every, by_system = figure.subplots(1, 2, width_ratios=(1.0, 1.9))
    means = np.column_stack([y.mean(axis=0), x.mean(axis=0)])
    every.scatter(y.ravel(), x.ravel(), s=4, color=GREY, linewidths=0, alpha=0.5, rasterized=True)
    every.scatter(means[:, 0], means[:, 1], s=9, color=COLOURS[1], linewidths=0)
    by_system.scatter(means[:, 0], means[:, 1], s=26, color=COLOURS[1], edgecolors="white", zorder=3)
    by_system.margins(0.16, 0.12)
    every.set_title("every summary", fontsize=LABEL, loc="left")
    by_system.set_title("means of the systems", fontsize=LABEL, loc="left")
    for axes in (every, by_system):
        axes.set_xlabel(f"{judgement}, judged", fontsize=LABEL)
        axes.grid(color=PALE, linewidth=0.4)
        axes.set_axisbelow(True)
        make_plain(axes)
    every.set_ylabel(f"{measure}, score", fontsize=LABEL)
    figure.suptitle(
        title or f"{measure} against judged {judgement}", fontsize=TITLE, fontweight="bold", x=0.02, ha="left"
    )
    labels_beside(figure, by_system, means, names)
    return figure


def plot_trade_off(
    x: ArrayLike,
    y: ArrayLike,
    systems: Sequence[str],
    intervals: ArrayLike | None = None,
    *,
    x_label: str,
    y_label: str,
    title: str,
) -> Figure:
    """Two numbers of each system against each other, with names and, where given, vertical intervals.

    Args:
        x, y: (s,) values.
        systems: names of the ``s`` systems.
        intervals: (s, 2) lower and upper ends of ``y``; none where left out.
        x_label, y_label: for the axes.
        title: of the figure.

    Raises:
        TypeError, ValueError: values that are no finite numbers, or do not fit the systems.
    """
    points = np.column_stack([finite("x", x, 1), finite("y", y, 1)])
    names = check_systems(systems, len(points))
    figure = new_figure(WIDTH, 4.2)
    axes = figure.add_subplot()
    axes.scatter(points[:, 0], points[:, 1], s=26, color=COLOURS[1], edgecolors="white", zorder=3)
    if intervals is not None:
        axes.vlines(points[:, 0], *np.asarray(intervals, dtype=np.float64).T, color=GREY, linewidth=0.8, zorder=1)
    axes.margins(0.16, 0.12)
    axes.set_xlabel(x_label, fontsize=LABEL)
    axes.set_ylabel(y_label, fontsize=LABEL)
    axes.grid(color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    make_plain(axes)
    set_title(axes, title)
    labels_beside(figure, axes, points, names)
    return figure


def plot_lengths(lengths: ArrayLike, systems: Sequence[str], unit: str = "characters", columns: int = 4) -> Figure:
    """Histograms of the lengths of each system's summaries, on one scale, with their means (appendix C, Figure 6).

    Args:
        lengths: (d, s) lengths, at least one document and one system.
        systems: names to print.
        unit: of the lengths.
        columns: panels side by side.

    Raises:
        TypeError, ValueError: ``lengths`` is no finite table, empty, or the names do not fit.
    """
    table = finite("lengths", lengths, 2)
    names = check_systems(systems, table.shape[1])
    if not table.size:
        raise ValueError(f"Expected argument `lengths` to hold at least one summary, but got shape {table.shape}.")
    wide = min(columns, len(names))
    high = -(-len(names) // wide)
    figure = new_figure(WIDTH, 0.8 + 1.1 * high)
    panels = figure.subplots(high, wide, sharex=True, sharey=True, squeeze=False).ravel()
    edges = np.histogram_bin_edges(table, bins=25)
    for panel, name, column in zip(panels, names, table.T, strict=False):
        panel.hist(column, bins=list(edges), color=COLOURS[5])
        panel.axvline(column.mean(), color=COLOURS[1], linewidth=1.2)
        panel.set_title(name, fontsize=TICK - 0.5, loc="left", pad=2)
        panel.text(
            0.99, 0.97, f"{column.mean():.0f}", transform=panel.transAxes, fontsize=TICK, color=COLOURS[1], ha="right",
            va="top", fontweight="bold",
        )  # fmt: skip
        make_plain(panel)
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    figure.supxlabel(f"length in {unit}; line and number: the mean", fontsize=LABEL)
    figure.supylabel("summaries", fontsize=LABEL)
    figure.suptitle("Lengths of the summaries by system", fontsize=TITLE, fontweight="bold", x=0.02, ha="left")
    return figure


def _whiskers(axes: Axes, heights: Floats, ends: Floats, measure: str) -> None:
    if ends.shape != (len(heights), 2):
        raise ValueError(
            f"Expected argument `intervals` to hold {len(heights)} pairs of {measure!r}, but got shape {ends.shape}."
        )
    for bar, (low, high) in enumerate(ends):
        if np.isfinite(low) and np.isfinite(high):
            axes.plot([bar, bar], [low, high], color="black", linewidth=1.0)
            for end in (low, high):
                axes.plot([bar - 0.14, bar + 0.14], [end, end], color="black", linewidth=1.0)
