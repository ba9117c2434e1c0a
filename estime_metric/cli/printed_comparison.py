"""What ``estime compare`` prints: the systems, the means, the differences, the notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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

    def show(title: str, columns: Mapping[str, Any]) -> None:
        print_columns(columns, texts=("system", "first", "second"), title=title)

    names, number = comparison.names, len(comparison.compared)
    show(f"{' and '.join(names) if len(names) == 2 else 'Systems'} compared", _systems(comparison))
    some = f" ({LISTED} of {number})" if number > LISTED else ""
    for measure, is_higher_better in comparison.higher_is_better.items():
        show(f"Means of {with_direction(measure, is_higher_better)}", _means(comparison, measure))
        title = f"Differences in {measure}, first minus second{some}"
        show(title, _differences(comparison, measure))
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
    names = comparison.ranking(measure)
    means = [comparison.intervals[measure, name] for name in names]
    return {"system": names, **_interval_columns("mean", measure, means)}


def _differences(comparison: Comparison, measure: str) -> dict[str, Any]:
    """The columns of a table of the first `LISTED` pairs of systems."""
    rows = comparison.differences[measure][:LISTED]
    differences = [Interval(row.difference, row.low, row.high, row.examples) for row in rows]
    columns = {
        "first": [row.system_a for row in rows],
        "second": [row.system_b for row in rows],
        **_interval_columns("difference", measure, differences),
        "p (Holm)" if len(comparison.compared) > 1 else "p": [p_value(row.p_holm) for row in rows],
        "wins / ties / losses": [
            "/".join(
                EMPTY if number is None else str(number)
                for number in (row.a_better, row.ties, row.b_better)
            )
            for row in rows
        ],
    }
    density = comparison.systems["copied_density"]
    if density.notna().any():
        columns["copied density"] = [
            f"{fixed(density[row.system_a], 1)} / {fixed(density[row.system_b], 1)}" for row in rows
        ]
    return columns


def _interval_columns(name: str, measure: str, means: Iterable[Interval]) -> dict[str, list[str]]:
    """The columns of some means of a measure, with this name, and of their intervals."""
    cells = [mean_cells(measure, mean) for mean in means]
    return {
        name: [mean for mean, _ in cells],
        "95% interval": [interval for _, interval in cells],
    }
