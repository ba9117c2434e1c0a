"""The curve from which a threshold is chosen."""

from __future__ import annotations

from matplotlib.figure import Figure

from estime_metric.report.style import (
    COLORS,
    GRAY,
    LABEL,
    TICK,
    WIDTH,
    make_plain,
    new_figure,
)
from estime_metric.stats.detection import Calibration


def plot_calibration(calibration: Calibration, score: str) -> Figure:
    """Balanced accuracy, and the shares it is the mean of, over the threshold of a score; the
    chosen one is a vertical line."""
    figure = new_figure(WIDTH, 3.6)
    axes = figure.add_subplot()
    for name, label, width, color in (
        ("accuracy", "balanced accuracy", 2.0, COLORS[0]),
        ("found", "inconsistent summaries flagged", 1.0, COLORS[1]),
        ("spared", "consistent summaries not flagged", 1.0, COLORS[2]),
    ):
        axes.plot(
            calibration.curve["threshold"],
            calibration.curve[name],
            color=color,
            linewidth=width,
            label=label,
        )
    axes.axvline(calibration.threshold, color=GRAY, linewidth=0.8, linestyle="--")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"threshold of {score}", fontsize=LABEL)
    axes.legend(fontsize=TICK, frameon=False)
    make_plain(axes)
    return figure
