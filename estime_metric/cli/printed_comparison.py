"""What ``estime compare`` prints: the systems, the means, the differences, the notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def _systems(comparison: Comparison) -> dict[str, list[Any]]:
    """The columns of a table of what the systems wrote."""
    systems = comparison.systems
    columns = {
        "system": comparison.names,
        "summaries": systems["summaries"].tolist(),
        "blank": [fixed(number, 0) for number in systems["blank"]],
    }
    if systems["skipped"].any():
        columns["skipped"] = systems["skipped"].tolist()
    for name in PROPERTIES:
        if systems[name].notna().any():
            columns[name] = [fixed(value, 2) for value in systems[name]]
    return columns


def _means(comparison: Comparison, measure: str) -> dict[str, list[str]]:
    """The columns of a table of the means, the best one first."""
    names = comparison.ranking(measure)
    means = [comparison.interval(measure, name) for name in names]
    return {"system": names, **_interval_columns(measure, "mean", means)}


def _differences(comparison: Comparison, measure: str) -> dict[str, list[str]]:
    """The columns of a table of the first `LISTED` pairs of systems."""
    pairs = comparison.pairs[comparison.pairs["measure"] == measure]
    rows = pairs[:LISTED].to_dict("records")
    means = [Interval(row["difference"], row["low"], row["high"], row["examples"]) for row in rows]
    columns = {
        "first": [row["system_a"] for row in rows],
        "second": [row["system_b"] for row in rows],
        **_interval_columns(measure, "difference", means),
        "p (Holm)" if len(pairs) > 1 else "p": [p_value(row["p_holm"]) for row in rows],
        "wins / ties / losses": [
            "/".join(EMPTY if number is None else str(number) for number in numbers)
            for numbers in ([row["a_better"], row["ties"], row["b_better"]] for row in rows)
        ],
    }
    density = comparison.systems["copied_density"]
    if density.notna().any():
        copied = density.map(lambda runs: fixed(runs, 1))
        columns["copied density"] = [
            f"{copied[row['system_a']]} / {copied[row['system_b']]}" for row in rows
        ]
    return columns


def _interval_columns(measure: str, title: str, means: Sequence[Interval]) -> dict[str, list[str]]:
    """The columns of some means and of their intervals."""
    cells = [mean_cells(measure, mean) for mean in means]
    return {title: [mean for mean, _ in cells], "95% interval": [ends for _, ends in cells]}
