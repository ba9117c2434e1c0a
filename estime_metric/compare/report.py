"""A comparison -> rows and one object for programs, and a plot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from estime_metric.compare.differences import PROPERTIES, Comparison
from estime_metric.compare.words import direction, notes
from estime_metric.measures import MEASURES, measure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def to_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One flat row per measure and pair of systems, for a file: the row of `Comparison.pairs`, what the
    systems ``a`` and ``b`` wrote, and the signature.
    """
    wrote = comparison.systems[["blank", *PROPERTIES]]
    table = comparison.pairs.join(wrote.add_suffix("_a"), on="system_a")
    table = table.join(wrote.add_suffix("_b"), on="system_b")
    return _records(table.assign(signature=comparison.signature))


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Everything, for one JSON object: the rows of `Comparison.systems` and of `Comparison.pairs`, how
    they were computed, and the notes.
    """
    return {
        "signature": comparison.signature,
        "examples": comparison.examples,
        "sources": comparison.sources,
        "matched_by": comparison.matched_by,
        "baseline": comparison.baseline,
        "swaps": comparison.swaps,
        "seed": comparison.seed,
        "systems": _records(comparison.systems.rename_axis("system").reset_index()),
        "pairs": _records(comparison.pairs),
        "notes": notes(comparison),
    }


def plot_copying(comparison: Comparison, measure: str) -> Figure:
    """A compared measure against `copied_density`, one point per system with the 95% interval of the
    measure.

    ValueError: the measure was not compared, or a system lacks the column ``copied_density``.
    """
    from estime_metric.show.plot import GRAY, WIDTH, draw_named_points, make_grid, new_figure

    systems = comparison.systems.loc[comparison.ranking(measure)]
    for name in systems.index[systems["copied_density"].isna()]:
        raise ValueError(
            f"Expected a column 'copied_density' for the plot, but {name} has none. Score it again."
        )
    figure = new_figure(WIDTH, 4.2)
    axes = figure.add_subplot()
    ends = systems[f"{measure}_low"], systems[f"{measure}_high"]
    axes.vlines(systems["copied_density"], *ends, color=GRAY, linewidth=0.8, zorder=1)
    make_grid(
        axes,
        "copied_density: mean length of the runs that are copied, in words",
        f"mean of {measure} ({direction(measure)} is better)",
        f"{measure} against copying",
    )
    draw_named_points(axes, systems[["copied_density", measure]].to_numpy(), systems.index)
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    least = MEASURES[measure_of(measure)].low
    # Values that are not possible have no tick.
    axes.set_xticks([tick for tick in axes.get_xticks() if max(left, 0) <= tick <= right])
    axes.set_yticks([tick for tick in axes.get_yticks() if max(bottom, least) <= tick <= top])
    return figure


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows with NaN as nothing: null in JSON, an empty cell in CSV."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }
        for row in table.to_dict("records")
    ]
