"""Two figures: alarms by number of errors, and alarms near errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Lines of both panels of the figure of positions: column, label, colour, style, how far it is moved aside.
PRECISION = (("precision", "precision", "C0", "-", 0.0), ("precision_by_chance", "by chance", "0.5", "--", 0.06))
RECALL = (
    ("recall", "recall, checkable errors", "C0", "-", 0.0),
    ("recall_by_chance", "by chance", "0.5", "--", 0.06),
    ("recall_of_all", "recall, all errors", "C2", "-", -0.06),
    ("before", "all errors, same positions before", "C1", ":", -0.12),
)


def draw(rise: pd.DataFrame, positions: pd.DataFrame, layer: int) -> Iterator[tuple[str, Figure]]:
    """``rise``: mean alarms by number of errors. ``positions``: precision and recall of alarms beside chance.

    The tidy tables are those of `SubtleErrorsStudy.analyze`; ``layer`` says whose alarms these are.

    Raises:
        ImportError: matplotlib is not installed.
    """
    if len(alarms := rise[rise["measure"] == "alarms"]):
        yield "rise", _rise(alarms, layer)
    yield "positions", _positions(positions, layer)


def _rise(levels: pd.DataFrame, layer: int) -> Figure:
    """Mean alarms by number of errors, with the 95% intervals of the mean and of its difference to clean."""
    figure, (left, right) = _figure(1, 3.8)
    _line(left, levels, "n_errors", "mean", "", "C0", "-", 0.0)
    _line(right, levels, "n_errors", "rise", "", "C1", "-", 0.0)
    right.axhline(0, color="0.6", linewidth=0.8)
    left.set_ylabel("alarms in a summary, mean")
    right.set_ylabel("more than without errors, mean")
    for axes in (left, right):
        axes.set_xlabel("errors in a summary")
        axes.set_xticks(levels["n_errors"])
    left.set_ylim(bottom=0)
    pairs = levels["pairs"].iloc[0]
    figure.suptitle(f"ESTIME-{layer} by number of subtle errors, {pairs} pairs, 95% intervals")
    return figure


def _positions(positions: pd.DataFrame, layer: int) -> Figure:
    """Precision and recall of alarms for neighbourhoods of errors, beside chance, one row for each number of errors."""
    numbers = positions.groupby("n_errors")
    figure, grid = _figure(len(numbers), 1.2 + 2.7 * len(numbers))
    for both, (number, found) in zip(grid.reshape(-1, 2), numbers, strict=True):
        for axes, lines, whole in zip(both, (PRECISION, RECALL), ("alarms", "errors"), strict=True):
            for line in lines:
                _line(axes, found, "reach", *line)
            axes.set_ylabel(f"share of the {whole}")
            axes.set_title(f"{number} error{'s' if number > 1 else ''} in a summary", fontsize="medium")
            axes.set_xlabel("units to each side of an error that count as near")
            axes.set_xticks(found["reach"])
            axes.set_ylim(0, 1.03)
            axes.legend(fontsize="small", loc="best")
    figure.suptitle(f"Do the alarms of ESTIME-{layer} fall near the errors? 95% intervals over pairs")
    return figure


def _line(
    axes: Any, frame: pd.DataFrame, position: str, name: str, label: str, color: str, style: str, aside: float
) -> None:
    """Values with their intervals, moved aside a little so that those of several lines can be told apart."""
    values = frame[name]
    ends = [(values - frame[f"{name}_low"]).clip(lower=0), (frame[f"{name}_high"] - values).clip(lower=0)]
    axes.errorbar(
        frame[position] + aside, values, yerr=ends, color=color, label=label or None,
        linestyle=style, marker="o", markersize=4, capsize=3, linewidth=1.3,
    )  # fmt: skip


def _figure(rows: int, height: float) -> tuple[Figure, Any]:
    from estime_metric.meta.plots.style import new_figure

    figure = new_figure(9.0, height)
    return figure, figure.subplots(rows, 2)
