"""Two figures: alarms by number of errors, and alarms near errors. They need the extra ``meta``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from estime_metric.studies.subtle_errors.estimates import Estimate
from estime_metric.studies.subtle_errors.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_rise(study: Study) -> Figure:
    """Mean alarms by number of errors, with the 95% intervals of the mean and of its difference to clean.

    Raises:
        ImportError: matplotlib is not installed.
    """
    figure, (left, right) = _figure(1, 2, (9.0, 3.8))
    levels = study.levels["alarms"]
    numbers = [level.n_errors for level in levels]
    _line(left, numbers, [level.mean for level in levels], "C0", "")
    _line(right, numbers, [level.rise for level in levels], "C1", "")
    right.axhline(0, color="0.6", linewidth=0.8)
    left.set_ylabel("alarms in a summary, mean")
    right.set_ylabel("more than without errors, mean")
    for axes in (left, right):
        axes.set_xlabel("errors in a summary")
        axes.set_xticks(numbers)
    left.set_ylim(bottom=0)
    pairs = len(study.complete(study.numbers[-1]))
    figure.suptitle(f"ESTIME-{study.layer} by number of subtle errors, {pairs} pairs, 95% intervals")
    return figure


def plot_positions(study: Study) -> Figure:
    """Precision and recall of alarms for neighbourhoods of errors, beside chance, one row for each number of errors.

    Raises:
        ImportError: matplotlib is not installed.
    """
    figure, grid = _figure(len(study.detections), 2, (9.0, 1.2 + 2.7 * len(study.detections)))
    for (left, right), (number, found) in zip(grid.reshape(-1, 2), study.detections.items(), strict=True):
        reaches = [one.reach for one in found]
        _line(left, reaches, [one.precision for one in found], "C0", "precision")
        _line(left, reaches, [one.precision_by_chance for one in found], "0.5", "by chance", "--", 0.06)
        _line(right, reaches, [one.recall for one in found], "C0", "recall, checkable errors")
        _line(right, reaches, [one.recall_by_chance for one in found], "0.5", "by chance", "--", 0.06)
        _line(right, reaches, [one.recall_of_all for one in found], "C2", "recall, all errors", "-", -0.06)
        _line(right, reaches, [one.before for one in found], "C1", "all errors, same positions before", ":", -0.12)
        left.set_ylabel("share of the alarms")
        right.set_ylabel("share of the errors")
        for axes in (left, right):
            axes.set_title(f"{number} error{'s' if number > 1 else ''} in a summary", fontsize="medium")
            axes.set_xlabel("units to each side of an error that count as near")
            axes.set_xticks(reaches)
            axes.set_ylim(0, 1.03)
            axes.legend(fontsize="small", loc="best")
    figure.suptitle(f"Do the alarms of ESTIME-{study.layer} fall near the errors? 95% intervals over pairs")
    return figure


def _line(
    axes: Any,
    positions: Sequence[int],
    estimates: Sequence[Estimate],
    color: str,
    label: str,
    style: str = "-",
    aside: float = 0.0,
) -> None:
    """Values with their intervals, moved aside a little so that those of several lines can be told apart."""
    values = [one.value for one in estimates]
    below = [max(0.0, one.value - one.low) for one in estimates]
    above = [max(0.0, one.high - one.value) for one in estimates]
    axes.errorbar(
        [index + aside for index in positions], values, yerr=[below, above], color=color, label=label or None,
        linestyle=style, marker="o", markersize=4, capsize=3, linewidth=1.3,
    )  # fmt: skip


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'estime-metric[meta]'.") from error
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns)
