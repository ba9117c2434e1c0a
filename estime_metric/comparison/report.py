"""A comparison -> a table for readers, and a plot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from estime_metric.comparison.tables import EMPTY, Cell, Column, Section, Table, interval, p_value
from estime_metric.comparison.verdicts import Comparison, Ranked, higher_is_better

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GROUP = 8  # P-values that share one group of columns

#: Measures beside the scores: heading and decimals.
_BESIDE = {
    "tokens": ("tokens", 1),
    "copied": ("copied", 3),
    "copied_density": ("density", 1),
    "coverage": ("checked", 3),
}


def to_table(found: Comparison) -> Table:
    """The table that ``estime compare`` prints: of two systems without a baseline a column for each
    measure, else a row for each system and a section for each measure, best system first."""
    return _of_two(found) if len(found.systems) == 2 and found.baseline is None else _of_many(found)


def plot_copying(found: Comparison, measure: str) -> Figure:
    """A compared measure against the share of a summary's tokens that are copied from its source,
    one point a system.

    ValueError: the measure was not compared, or a system lacks the column ``copied``.
    """
    from estime_metric.comparison.plots.trade_off import plot_trade_off

    ranking = found.ranking(measure)
    names, copied = (
        [one.system.name for one in ranking],
        [one.system.means["copied"] for one in ranking],
    )
    lacking = [name for name, value in zip(names, copied, strict=True) if math.isnan(value)]
    if lacking:
        raise ValueError(
            f"Expected a column 'copied' for the plot, but {lacking[0]} has none: score it with `measures` "
            "(--measures) copied."
        )
    return plot_trade_off(
        copied,
        [one.mean for one in ranking],
        names,
        [(one.low, one.high) for one in ranking],
        x_label="copied: mean share of a summary's tokens that are copied from the source",
        y_label=f"mean of {measure} ({_direction(measure)} is better)",
        title=f"{measure} against copying",
    )


def _of_two(found: Comparison) -> Table:
    tests = {measure: found.pair(measure).test for measure in found.pairs}
    lines: dict[str, list[str]] = {
        "better is": [_direction(measure) for measure in tests],
        "mean of A": [_number(one.mean_first) for one in tests.values()],
        "mean of B": [_number(one.mean_second) for one in tests.values()],
        "A - B": [_number(one.bootstrap.difference, "+") for one in tests.values()],
        f"{found.options['confidence']:.0%} interval from": [
            _number(one.bootstrap.low, "+") for one in tests.values()
        ],
        "to": [_number(one.bootstrap.high, "+") for one in tests.values()],
        "p, paired bootstrap": [
            _number(one.bootstrap.p_value, least=1e-4) for one in tests.values()
        ],
        "p, randomization": [
            _number(one.randomization.p_value, least=1e-4) for one in tests.values()
        ],
        "A better": [str(one.better_first) for one in tests.values()],
        "tied": [str(one.ties) for one in tests.values()],
        "B better": [str(one.better_second) for one in tests.values()],
    }
    columns = (Column("", text=True), *(Column(measure) for measure in tests))
    return Table(
        "comparison",
        "",
        columns,
        (Section("", tuple((name, *cells) for name, cells in lines.items())),),
    )


def _of_many(found: Comparison) -> Table:
    several, count = found.baseline is None, len(found.systems)
    confidence = f"{found.options['confidence']:.0%} interval"
    columns = [Column("", text=True), Column("system", text=True), Column("mean", decimals=4)]
    columns += [
        Column(confidence, text=True),
        *(Column(name, group="examples") for name in ("won", "tied", "lost")),
    ]
    if several:
        for first in range(1, count, _GROUP):
            group = "p (Holm) against" if count <= _GROUP + 1 else f"p (Holm) against, from {first}"
            columns += [
                Column(str(place), group, 4) for place in range(first, min(count, first + _GROUP))
            ]
        columns.append(Column("cluster", text=True))
    else:
        columns += [Column("p (Holm)", decimals=4), Column(f"against {found.baseline}", text=True)]
    beside = [
        name
        for name in _BESIDE
        if not all(math.isnan(system.means[name]) for system in found.systems)
    ]
    columns += [
        Column(heading, "summaries", decimals)
        for heading, decimals in map(_BESIDE.__getitem__, beside)
    ]
    columns.append(Column("blank", "summaries"))
    sections = []
    for measure in found.pairs:
        ranking = found.ranking(measure)
        rows: list[tuple[Cell, ...]] = []
        for place, one in enumerate(ranking):
            row: list[Cell] = [
                str(place + 1),
                one.system.name,
                one.mean,
                interval(one.low, one.high, 4),
            ]
            row += (
                [None] * 3 if one.system.name == found.baseline else [one.won, one.tied, one.lost]
            )
            if several:  # p-values against each system that ranks above, and the clusters
                tests = [
                    found.pair(measure, one.system.name, above.system.name).test
                    for above in ranking[:place]
                ]
                row += [*(p_value(test.p_value) for test in tests), *[""] * (count - 1 - place)]
                row.append(" ".join(map(str, one.clusters)))
            else:
                row += _against_baseline(found, measure, one)
            rows.append((*row, *(one.system.means[name] for name in beside), one.system.blank))
        sections.append(Section(f"{measure} ({_direction(measure)} is better)", tuple(rows)))
    return Table(
        "comparison", "Systems compared", tuple(columns), tuple(sections), tuple(_notes(found))
    )


def _against_baseline(found: Comparison, measure: str, one: Ranked) -> list[Cell]:
    if one.system.name == found.baseline:
        return ["", "baseline"]
    pair = found.pair(measure, one.system.name, found.baseline)
    better = (
        "better" if pair.better == one.system.name else "worse" if pair.better else "no difference"
    )
    return [p_value(pair.test.p_value), "not checked" if pair.unchecked else better]


def _notes(found: Comparison) -> list[str]:
    notes = [
        f"{found.examples} examples that all {len(found.systems)} systems have, matched by column "
        f"{found.matched_by!r}; bootstrap intervals, p-values of approximate randomization ({found.options['n']} "
        f"resamples), corrected by Holm's method for the {len(next(iter(found.pairs.values())))} pairs of a measure."
    ]
    if found.baseline is None:
        notes.append(
            "Systems that share a cluster cannot be told apart: their difference is not significant."
        )
    notes += [f"No winner is declared: {one.unchecked}." for one in found.systems if one.unchecked]
    return [*notes, *found.notes]


def _direction(measure: str) -> str:
    return "higher" if higher_is_better(measure) else "lower"


def _number(value: float | None, sign: str = "", least: float = -math.inf) -> str:
    if value is None or math.isnan(value):
        return EMPTY
    return f"<{least:.4f}" if value < least else f"{value:{sign}.4f}"
