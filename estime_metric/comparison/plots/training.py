"""How inconsistency and copying developed in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from estime_metric.report.style import (
    COLORS,
    GRAY,
    TICK,
    WIDTH,
    make_grid,
    new_figure,
)

if TYPE_CHECKING:
    from estime_metric.comparison.training_log import TrainingCurve


def draw_training(curve: TrainingCurve) -> Figure:
    """See `plot_training`."""
    figure = new_figure(WIDTH, 4.4)
    top, bottom = figure.subplots(2, 1, sharex=True)
    steps = [point.step for point in curve.points]
    best = curve.best
    inconsistency = [point.inconsistency for point in curve.points]
    copied = [point.copied for point in curve.points]
    for axes, name, values, color, direction in (
        (top, "inconsistency", inconsistency, COLORS[0], "lower is better"),
        (bottom, "copied", copied, COLORS[1], "share of tokens, not a judgment"),
    ):
        axes.plot(steps, values, color=color, marker=".", linewidth=1.5)
        axes.axvline(best.step, color=GRAY, linewidth=0.8, linestyle="--")
        make_grid(axes, y_label=curve.columns[name], title=f"{name} ({direction})")
        axes.set_ylim(bottom=0)
    bottom.set_ylim(0, 1.02)
    bottom.set_xlabel(curve.by)
    top.annotate(
        f"lowest: {best.inconsistency:.4f} at {curve.by} {best.step:g}",
        (best.step, best.inconsistency),
        xytext=(0.98, 0.9),
        textcoords="axes fraction",
        ha="right",
        fontsize=TICK,
        arrowprops={"arrowstyle": "-", "color": GRAY, "linewidth": 0.6},
    )
    return figure
