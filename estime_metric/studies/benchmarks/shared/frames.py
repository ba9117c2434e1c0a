"""Tidy tables: a row per column of scores and statistic, with intervals from resamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.meta.resampling import draw_items
from estime_metric.table.arrays import Floats
from estime_metric.table.intervals import interval_of

#: Tidy tables by the name of their CSV file.
Frames = dict[str, pd.DataFrame]
#: What identifies a measure's rows in a tidy table: name, label and section of its `ScoreColumn`.
IDS = ["column", "measure", "section"]


def ids_of(column: ScoreColumn) -> dict[str, str]:
    """The cells of `IDS`."""
    return {"column": column.name, "measure": column.label, "section": column.section}


def each_column(
    scores: Scores[Any],
    rows_of: Callable[[ScoreColumn], Iterable[dict[str, Any]]],
    names: Sequence[str],
) -> pd.DataFrame:
    """A tidy table: the rows of every computed column, one below the other, with `IDS` in front;
    ``names`` are the columns of the rows.
    """
    rows = [{**ids_of(column), **row} for column in scores.analyzed() for row in rows_of(column)]
    return pd.DataFrame(rows, columns=[*IDS, *names])


def drawn_weights(items: int, resamples: int, seed: int) -> Floats:
    """How often the sample itself, and then each resample, contains each item; float64 of shape (1
    + resamples, items).
    """
    if not items:
        return np.zeros((1 + resamples, 0))
    return np.concatenate([np.ones((1, items)), draw_items(items, resamples, seed)])


def with_interval(drawn: Floats, name: str = "", *, widened: bool = False) -> dict[str, float]:
    """The value of the sample, the first of ``drawn``, and the ends of the 95% interval of the
    resamples, the others: ``value``, ``low`` and ``high``; with a name ``NAME``, ``NAME_low`` and
    ``NAME_high``.

    With ``widened`` the interval is widened to the value if that is outside: a resample that
    contains a pair twice ties it with itself, which shifts correlations of a few pairs to one side.
    """
    value = float(drawn[0])
    around = interval_of(drawn[1:])
    low, high = around.low, around.high
    if widened:
        low, high = min(low, value), max(high, value)
    prefix = f"{name}_" if name else ""
    return {name or "value": value, f"{prefix}low": low, f"{prefix}high": high}


def with_intervals(values: Mapping[str, Floats], *, widened: bool = False) -> dict[str, float]:
    """`with_interval` of each of some values, by its name."""
    cells: dict[str, float] = {}
    for name, drawn in values.items():
        cells |= with_interval(drawn, name, widened=widened)
    return cells
