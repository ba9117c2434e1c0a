"""The plots of the experiment: alarms by number of errors, and their positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.subtle_errors.data import Versions
from estime_metric.studies.benchmarks.subtle_errors.statistics import POSITIONS, RISE, SENSITIVE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class IntervalLine:
    """A line with intervals: the field it shows, its label, color and style, and how far it is
    moved aside, so that several lines can be distinguished.
    """

    field: str
    label: str = ""
    color: str = "C0"
    style: str = "-"
    aside: float = 0.0


PRECISION = (
    IntervalLine("precision", "precision"),
    IntervalLine("precision_by_chance", "by chance", color="0.5", style="--", aside=0.06),
)
RECALL = (
    IntervalLine("recall", "recall, checkable errors"),
    IntervalLine("recall_by_chance", "by chance", color="0.5", style="--", aside=0.06),
    IntervalLine("recall_of_all", "recall, all errors", color="C2", aside=-0.06),
    IntervalLine("before", "all errors, same positions before", color="C1", style=":", aside=-0.12),
)


def draw(
    scores: Scores[Versions], frames: Frames, *, layer: int, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """``rise``: mean alarms by number of errors. ``positions``: precision and recall of alarms, and
    of chance. ``layer`` is the one whose alarms are located.
    """
    alarms = frames[RISE]
    if len(alarms):
        alarms = alarms[alarms["measure"] == SENSITIVE["alarms"]]
    if len(alarms):
        yield "rise", _rise(alarms, layer)
    if len(frames[POSITIONS]):
        yield "positions", _positions(frames[POSITIONS], layer)


def _rise(levels: pd.DataFrame, layer: int) -> Figure:
    """Mean alarms by number of errors, with the 95% intervals of the mean and of its difference to
    clean.
    """
    figure, ((left, right),) = _figure(rows=1, height=3.8)
    for axes, line, label in (
        (left, IntervalLine("mean"), "alarms in a summary, mean"),
        (right, IntervalLine("rise", color="C1"), "more than without errors, mean"),
    ):
        _draw_line(axes, levels, "n_errors", line)
        axes.set_ylabel(label)
        axes.set_xlabel("errors in a summary")
        axes.set_xticks(levels["n_errors"])
    right.axhline(0, color="0.6", linewidth=0.8)
    left.set_ylim(bottom=0)
    pairs = levels["pairs"].iloc[0]
    figure.suptitle(f"ESTIME-{layer} by number of subtle errors, {pairs} pairs, 95% intervals")
    return figure


def _positions(positions: pd.DataFrame, layer: int) -> Figure:
    """Precision and recall of alarms for neighborhoods of errors, one row for each number of
    errors.
    """
    numbers = positions.groupby("n_errors")
    figure, grid = _figure(rows=len(numbers), height=1.2 + 2.7 * len(numbers))
    for (left, right), (number, of_number) in zip(grid, numbers, strict=True):
        _draw_shares(left, of_number, PRECISION, "share of the alarms", number)
        _draw_shares(right, of_number, RECALL, "share of the errors", number)
    figure.suptitle(
        f"Do the alarms of ESTIME-{layer} fall near the errors? 95% intervals over pairs"
    )
    return figure


def _draw_shares(
    axes: Any, frame: pd.DataFrame, lines: Sequence[IntervalLine], label: str, number: int
) -> None:
    for line in lines:
        _draw_line(axes, frame, "reach", line)
    axes.set_ylabel(label)
    axes.set_title(f"{number} error{'s' if number > 1 else ''} in a summary", fontsize="medium")
    axes.set_xlabel("units to each side of an error that count as near")
    axes.set_xticks(frame["reach"])
    axes.set_ylim(0, 1.03)
    axes.legend(fontsize="small", loc="best")


def _draw_line(axes: Any, frame: pd.DataFrame, position: str, line: IntervalLine) -> None:
    values = frame[line.field]
    ends = [
        (values - frame[f"{line.field}_low"]).clip(lower=0),
        (frame[f"{line.field}_high"] - values).clip(lower=0),
    ]
    axes.errorbar(
        frame[position] + line.aside,
        values,
        yerr=ends,
        color=line.color,
        label=line.label or None,
        linestyle=line.style,
        marker="o",
        markersize=4,
        capsize=3,
        linewidth=1.3,
    )


def _figure(rows: int, height: float) -> tuple[Figure, Any]:
    """A figure with two panels per row: axes of shape (rows, 2)."""
    from estime_metric.report.style import new_figure

    figure = new_figure(9.0, height)
    return figure, figure.subplots(rows, 2, squeeze=False)
