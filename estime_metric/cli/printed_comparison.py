"""What ``estime compare`` prints: the systems, the means, the differences, the notes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pandas import DataFrame

from estime_metric.cli.console import say
from estime_metric.compare.differences import Comparison
from estime_metric.compare.examples import PROPERTIES
from estime_metric.compare.sentences import LISTED
from estime_metric.show.cells import (
    EMPTY,
    fixed,
    mean_cells,
    p_value,
    print_columns,
    with_direction,
)
from estime_metric.table.intervals import Interval


def print_comparison(comparison: Comparison, notes: Iterable[str]) -> None:
    """A table of the systems, two for each measure, and the notes."""
    names, number = comparison.names, len(comparison.compared)
    title = f"{' and '.join(names) if len(names) == 2 else 'Systems'} compared"
    tables = {title: _systems(comparison)}
    some = f" ({LISTED} of {number})" if number > LISTED else ""
    for measure, is_higher_better in comparison.higher_is_better.items():
        title = f"Means of {with_direction(measure, is_higher_better)}"
        tables[title] = _means(comparison, measure)
        title = f"Differences in {measure}, first minus second{some}"
        tables[title] = _differences(comparison, measure)
    for title, columns in tables.items():
        print_columns(columns, texts=("system", "first", "second"), title=title)
    for note in notes:
        say(note)


def _systems(comparison: Comparison) -> dict[str, Any]:
    """The columns of a table of what the systems wrote."""
    systems = comparison.systems
    columns = {
        "system": systems.index,
        "summaries": systems["summaries"],
        "blank": systems["blank"].map(lambda number: fixed(number, 0)),
    }
    if systems["skipped"].any():
        columns["skipped"] = systems["skipped"]
    for name in PROPERTIES:
        if systems[name].notna().any():
            columns[name] = systems[name].map(lambda mean: fixed(mean, 2))
    return columns


def _means(comparison: Comparison, measure: str) -> dict[str, Any]:
    """The columns of a table of the means, the best one first."""
    means = comparison.means[comparison.means["measure"] == measure].set_index("system")
    means = means.loc[comparison.ranking(measure), ["mean", "low", "high", "count"]]
    return {"system": means.index, **_interval_columns(measure, means)}


def _differences(comparison: Comparison, measure: str) -> dict[str, Any]:
    """The columns of a table of the first `LISTED` pairs of systems."""
    pairs = comparison.pairs[comparison.pairs["measure"] == measure]
    rows = pairs[:LISTED]
    wins = rows[["a_better", "ties", "b_better"]].itertuples(index=False)
    columns = {
        "first": rows["system_a"],
        "second": rows["system_b"],
        **_interval_columns(measure, rows[["difference", "low", "high", "examples"]]),
        "p (Holm)" if len(pairs) > 1 else "p": rows["p_holm"].map(p_value),
        "wins / ties / losses": [
            "/".join(EMPTY if number is None else str(number) for number in numbers)
            for numbers in wins
        ],
    }
    density = comparison.systems["copied_density"]
    if density.notna().any():
        copied = density.map(lambda runs: fixed(runs, 1))
        columns["copied density"] = (
            rows["system_a"].map(copied) + " / " + rows["system_b"].map(copied)
        )
    return columns


def _interval_columns(measure: str, means: DataFrame) -> dict[str, list[str]]:
    """The columns of some means and of their intervals.

    Args:
        measure: what they are means of.
        means: a row for each, with the fields of an `Interval`.
    """
    cells = [mean_cells(measure, Interval(*numbers)) for numbers in means.itertuples(index=False)]
    return {
        means.columns[0]: [mean for mean, _ in cells],
        "95% interval": [interval for _, interval in cells],
    }
