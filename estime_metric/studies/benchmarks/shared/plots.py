"""Plots that several benchmarks draw: values with intervals, one below the other or side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, TRIVIAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The markers of the rows that are drawn in gray, and what they mean, for the caption of a plot.
GRAY_MARKERS = {TRIVIAL: "x", PUBLISHED: "s"}
MARKERS_EXPLAINED = "blue: computed or from a file, cross: trivial, square: published"


def best_of(ranked: pd.DataFrame, number: int = 3) -> pd.DataFrame:
    """The first measures that were computed or read from a file, and the first published ones."""
    published, trivial = (ranked["section"] == section for section in (PUBLISHED, TRIVIAL))
    return pd.concat([ranked[~published & ~trivial].head(number), ranked[published].head(number)])


def values_of(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows with the field ``name`` and its interval, ``NAME_low`` and ``NAME_high``, as
    ``value``, ``low`` and ``high``.
    """
    return rows.assign(value=rows[name], low=rows[f"{name}_low"], high=rows[f"{name}_high"])


def plot_intervals(
    panels: Mapping[str, pd.DataFrame], middle: float, caption: str, *, wider: float
) -> Figure:
    """Values with their intervals, the first row on top: title of a panel -> its rows by ``measure``,
    the same in each, with ``value``, ``low``, ``high`` and ``section``, see `GRAY_MARKERS`.

    A line marks ``middle``; the figure is the given number of inches ``wider`` than a page.
    """
    from estime_metric.report.style import (
        COLORS,
        GRAY,
        LABEL,
        TICK,
        WIDTH,
        make_plain,
        new_figure,
        set_title,
    )

    labels = list(next(iter(panels.values()))["measure"])[::-1]
    figure = new_figure(WIDTH + wider, 1.2 + 0.17 * len(labels))
    all_axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (title, rows) in zip(all_axes, panels.items(), strict=True):
        for height, row in enumerate(rows[::-1].itertuples()):
            if np.isnan(row.value):
                continue
            marker = GRAY_MARKERS.get(row.section, "o")
            color = GRAY if row.section in GRAY_MARKERS else COLORS[0]
            axes.plot([row.low, row.high], [height, height], color=color, linewidth=1.2)
            axes.plot(row.value, height, marker, color=color, markersize=3.5)
        axes.axvline(middle, color=GRAY, linewidth=0.6)
        set_title(axes, title)
        make_plain(axes)
    all_axes[0].set_yticks(range(len(labels)), labels, fontsize=TICK)
    figure.supxlabel(caption, fontsize=LABEL)
    return figure


def plot_groups(
    rows_of: Mapping[str, pd.DataFrame], groups: Mapping[str, str], y_label: str, middle: float
) -> Figure:
    """Values with their intervals, side by side for each group: label of a measure -> its rows by
    group, with ``value``, ``low`` and ``high``; group -> what it is called on the axis. A line marks
    ``middle``.
    """
    from estime_metric.report.style import (
        COLORS,
        GRAY,
        LABEL,
        MARKERS,
        TICK,
        WIDTH,
        make_plain,
        new_figure,
    )

    figure = new_figure(WIDTH + 1.5, 4.2)
    axes = figure.subplots()
    for number, (label, rows) in enumerate(rows_of.items()):
        shown = rows.loc[list(groups)]
        positions = np.arange(len(groups)) + 0.12 * (number - (len(rows_of) - 1) / 2)
        color, marker = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)]
        axes.vlines(positions, shown["low"], shown["high"], color=color, linewidth=1.0)
        axes.plot(positions, shown["value"], marker, color=color, markersize=4, label=label)
    axes.axhline(middle, color=GRAY, linewidth=0.6)
    axes.set_xticks(range(len(groups)), list(groups.values()), rotation=35, ha="right")
    axes.set_ylabel(y_label, fontsize=LABEL)
    if rows_of:
        figure.legend(fontsize=TICK, ncols=3, frameon=False, loc="outside upper center")
    make_plain(axes)
    return figure
