"""What a threshold of a score reaches."""

from __future__ import annotations

from matplotlib.figure import Figure

from estime_metric.meta.detection import Calibration
from estime_metric.meta.plots.style import COLOURS, GREY, LABEL, TICK, WIDTH, make_plain, new_figure


def plot_calibration(found: Calibration, score: str) -> Figure:
    """Balanced accuracy, and the shares it is the mean of, over the threshold; the chosen one is a vertical line.

    Args:
        found: see `estime_metric.meta.detection.calibrate`.
        score: its name, for the axis.
    """
    figure = new_figure(WIDTH, 3.6)
    axes = figure.add_subplot()
    labels = {
        "accuracy": "balanced accuracy",
        "found": "inconsistent summaries flagged",
        "spared": "consistent summaries not flagged",
    }
    for (name, label), colour in zip(labels.items(), COLOURS, strict=False):
        width = 2.0 if name == "accuracy" else 1.0
        axes.plot(found.curve["threshold"], found.curve[name], color=colour, linewidth=width, label=label)
    axes.axvline(found.threshold, color=GREY, linewidth=0.8, linestyle="--")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"threshold of {score}", fontsize=LABEL)
    axes.legend(fontsize=TICK, frameon=False)
    make_plain(axes)
    return figure
