"""How the values of one measure are distributed over summaries, and which summaries are worst."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from estime_metric._wording import shortened
from estime_metric.report.style import (
    COLORS,
    GRAY,
    LABEL,
    PALE,
    TICK,
    WIDTH,
    make_grid,
    make_plain,
    new_figure,
    set_title,
)
from estime_metric.report.tables import fixed, interval_cell
from estime_metric.stats.intervals import Interval

_BINS = 40  # of the histogram, at most
_CHARACTERS = 60  # of a summary that are shown
_DOLLAR = str.maketrans({"$": r"\$"})  # which would begin a formula


@dataclass(frozen=True)
class NamedValue:
    """A summary with its place, such as ``line 8``, and its value."""

    name: str
    text: str
    value: float


def plot_distribution(
    values: Sequence[float],
    *,
    measure: str,
    mean: Interval,
    worst: Sequence[NamedValue],
    threshold: float | None = None,
) -> Figure:
    """A histogram of a measure between 0 and 1 for which lower is better, with its mean and
    interval, and the threshold of the flags if there is one; below it the worst summaries.

    Args:
        values: one for each summary, at least summary.
        measure: its name.
        mean: the mean of the values.
        worst: the summaries that are named, the worst first.
        threshold: summaries from this value on are flagged.
    """
    heights = (3.0, 0.6 + 0.24 * len(worst))
    figure = new_figure(WIDTH, sum(heights))
    top, bottom = figure.subplots(2, 1, height_ratios=heights)
    _histogram(top, np.asarray(values, dtype=np.float64), measure, mean, threshold)
    _bars(bottom, measure, worst, threshold)
    return figure


def _histogram(
    axes: Axes, values: np.ndarray, measure: str, mean: Interval, threshold: float | None
) -> None:
    most = max(float(values.max()), threshold or 0.0, 0.1)
    bins = min(_BINS, max(10, round(len(values) ** 0.5)))
    axes.hist(values, bins=np.linspace(0, most, bins + 1).tolist(), color=COLORS[5])
    label = f"mean {fixed(mean.mean, 4)}, 95% interval {interval_cell(mean.low, mean.high, 4)}"
    if not math.isnan(mean.low):
        axes.axvspan(mean.low, mean.high, color=PALE, alpha=0.6, linewidth=0)
    axes.axvline(mean.mean, color=COLORS[0], linewidth=1.5, label=label)
    if threshold is not None:
        flagged = int((values >= threshold).sum())
        axes.axvline(
            threshold,
            color=COLORS[1],
            linewidth=1.2,
            linestyle="--",
            label=f"threshold {threshold:g}: {flagged} flagged",
        )
    number = f"{len(values):,} " + ("summary" if len(values) == 1 else "summaries")
    make_grid(
        axes,
        f"{measure} (lower is better)",
        "summaries",
        f"{measure} of {number}",
        lines="y",
    )
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(0, most)
    axes.legend(  # above the bars
        fontsize=TICK, frameon=False, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0
    )


def _bars(axes: Axes, measure: str, worst: Sequence[NamedValue], threshold: float | None) -> None:
    set_title(axes, "The worst summaries")
    places = range(len(worst))
    flagged = [threshold is not None and summary.value >= threshold for summary in worst]
    colors = [COLORS[1] if flag else GRAY for flag in flagged]
    axes.barh(places, [summary.value for summary in worst], height=0.7, color=colors, alpha=0.35)
    for place, summary in zip(places, worst, strict=True):
        shown = shortened(summary.text, _CHARACTERS) or "(blank)"
        axes.annotate(
            f"{summary.value:.3f}  {shown}".translate(_DOLLAR),
            (0, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=TICK,
            clip_on=False,
        )
    axes.set_yticks(places, [summary.name.translate(_DOLLAR) for summary in worst], fontsize=TICK)
    axes.set_ylim(len(worst) - 0.4, -0.6)
    axes.set_xlim(0, max([summary.value for summary in worst], default=1.0) or 1.0)
    axes.set_xlabel(measure, fontsize=LABEL)
    make_plain(axes)
