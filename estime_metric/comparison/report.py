"""A comparison -> a table for readers, and a plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from estime_metric.comparison.verdicts import (
    Comparison,
    Ranked,
    System,
    higher_is_better,
)
from estime_metric.report.tables import EMPTY, Cell, Column, Section, Table, interval, p_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GROUP = 8  # p-values that share one group of columns


class _Property(NamedTuple):
    """How a mean of the systems is shown in addition to their scores."""

    heading: str
    decimals: int


_PROPERTIES = {
    "tokens": _Property("tokens", 1),
    "copied": _Property("copied", 3),
    "copied_density": _Property("density", 1),
    "coverage": _Property("checked", 3),
}


_DESCRIBED = {  # how the means of each of two systems are described
    "tokens": "{:.1f} tokens per summary",
    "coverage": "{:.0%} of them checked",
    "copied": "{:.0%} copied",
    "copied_density": "density {:.1f}",
}


def to_table(found: Comparison) -> Table:
    """The table that ``estime compare`` prints. For two systems without a baseline, it has one column
    per measure. Otherwise it has one section per measure and one row per system, with the best
    system first. Its notes contain everything else: the systems, the verdicts, and the signature.
    """
    return _of_two(found) if len(found.systems) == 2 and found.baseline is None else _of_many(found)


def plot_copying(found: Comparison, measure: str) -> Figure:
    """A compared measure against the share of a summary's tokens that are copied from its source,
    one point per system.

    ValueError: the measure was not compared, or a system lacks the column ``copied``.
    """
    from estime_metric.comparison.plots.trade_off import plot_trade_off

    ranking = found.ranking(measure)
    names = [one.system.name for one in ranking]
    copied = [one.system.means["copied"] for one in ranking]
    lacking = [name for name, value in zip(names, copied, strict=True) if math.isnan(value)]
    if lacking:
        raise ValueError(
            f"Expected a column 'copied' for the plot, but {lacking[0]} has none. Score it again with "
            'measures="copied".'
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
    confidence = f"{found.options['confidence']:.0%} interval"
    own = [_own_intervals(found, measure) for measure in tests]
    first, second = (one.name for one in found.systems)
    lines: list[tuple[str, list[str]]] = [
        ("better is", [_direction(measure) for measure in tests]),
        ("mean of A", [_number(one.mean_first) for one in tests.values()]),
        (confidence, [one[first] for one in own]),
        ("mean of B", [_number(one.mean_second) for one in tests.values()]),
        (confidence, [one[second] for one in own]),
        ("A - B", [_number(one.bootstrap.difference, "+") for one in tests.values()]),
        (f"{confidence} from", [_number(one.bootstrap.low, "+") for one in tests.values()]),
        ("to", [_number(one.bootstrap.high, "+") for one in tests.values()]),
        (
            "p, paired bootstrap",
            [_number(one.bootstrap.p_value, least=1e-4) for one in tests.values()],
        ),
        (
            "p, randomization",
            [_number(one.randomization.p_value, least=1e-4) for one in tests.values()],
        ),
        ("A better", [str(one.better_first) for one in tests.values()]),
        ("tied", [str(one.ties) for one in tests.values()]),
        ("B better", [str(one.better_second) for one in tests.values()]),
    ]
    columns = (Column("", text=True), *(Column(measure) for measure in tests))
    return Table(
        "comparison",
        f"{' and '.join(map(_both_names, found.systems))} compared",
        columns,
        (Section("", tuple((name, *cells) for name, cells in lines)),),
        tuple(_notes_of_two(found)),
    )


def _both_names(system: System) -> str:
    """``a.jsonl (A)``, or ``A`` if the system was given no other name."""
    if system.given_name == system.name:
        return system.name
    return f"{system.given_name} ({system.name})"


def _notes_of_two(found: Comparison) -> list[str]:
    verdicts = [f"{measure}: {found.verdict(measure)}." for measure in found.pairs]
    return [
        *verdicts,
        *(_description(system, found.examples) for system in found.systems),
        f"{_examples(found)}, matched by column {found.matched_by!r}; intervals and the p-value of the paired "
        f"bootstrap come from {found.options['n']} resamples.",
        *found.notes,
        found.signature,
    ]


def _examples(found: Comparison) -> str:
    return f"{found.examples} {'example' if found.examples == 1 else 'examples'}"


def _description(system: System, examples: int) -> str:
    """What a system wrote: ``B (b.jsonl): 8 summaries, 0 blank, 20.0 tokens per summary.``"""
    name = system.name
    if system.given_name != system.name:
        name += f" ({system.given_name})"
    known = [f"{examples} {'summary' if examples == 1 else 'summaries'}, {system.blank} blank"]
    known += [
        shown.format(system.means[name])
        for name, shown in _DESCRIBED.items()
        if not math.isnan(system.means[name])
    ]
    return f"{name}: {', '.join(known)}."


def _own_intervals(found: Comparison, measure: str) -> dict[str, str]:
    """The interval of the mean of each system, by its name."""
    return {one.system.name: interval(one.low, one.high, 4) for one in found.ranking(measure)}


@dataclass(frozen=True)
class _Row:
    """A system's row in the section of one measure: its place, from 0, among the systems."""

    found: Comparison
    measure: str
    ranking: Sequence[Ranked]
    place: int

    @property
    def one(self) -> Ranked:
        return self.ranking[self.place]

    @property
    def is_baseline(self) -> bool:
        return self.one.system.name == self.found.baseline


@dataclass(frozen=True)
class _RowColumn:
    """A column of the table of many systems, and its cell in a row."""

    column: Column
    cell: Callable[[_Row], Cell]


def _of_many(found: Comparison) -> Table:
    columns = [
        *_score_columns(found),
        *(
            _pair_columns(len(found.systems))
            if found.baseline is None
            else _baseline_columns(found)
        ),
        *_property_columns(found),
    ]
    sections = []
    for measure in found.pairs:
        ranking = found.ranking(measure)
        rows = [_Row(found, measure, ranking, place) for place in range(len(ranking))]
        title = f"{measure} ({_direction(measure)} is better)"
        sections.append(
            Section(title, tuple(tuple(one.cell(row) for one in columns) for row in rows))
        )
    headings = tuple(one.column for one in columns)
    return Table("comparison", "Systems compared", headings, tuple(sections), tuple(_notes(found)))


def _score_columns(found: Comparison) -> list[_RowColumn]:
    """The place, the system, its mean with the interval, and its wins, which a baseline lacks."""

    def wins(name: str) -> _RowColumn:
        return _RowColumn(
            Column(name, "examples"),
            lambda row: None if row.is_baseline else getattr(row.one, name),
        )

    confidence = f"{found.options['confidence']:.0%} interval"
    return [
        _RowColumn(Column("", text=True), lambda row: str(row.place + 1)),
        _RowColumn(Column("system", text=True), lambda row: row.one.system.name),
        _RowColumn(Column("mean", decimals=4), lambda row: row.one.mean),
        _RowColumn(
            Column(confidence, text=True), lambda row: interval(row.one.low, row.one.high, 4)
        ),
        wins("won"),
        wins("tied"),
        wins("lost"),
    ]


def _pair_columns(count: int) -> list[_RowColumn]:
    """The p-values against each system that ranks above, in groups, and the clusters."""

    def against(place: int) -> Callable[[_Row], Cell]:
        def cell(row: _Row) -> Cell:
            if place >= row.place:
                return ""
            above = row.ranking[place].system.name
            pair = row.found.pair(row.measure, row.one.system.name, above)
            return p_value(pair.test.p_value)

        return cell

    columns = []
    for place in range(count - 1):
        first = place // _GROUP * _GROUP + 1
        group = "p (Holm) against" if count <= _GROUP + 1 else f"p (Holm) against, from {first}"
        columns.append(_RowColumn(Column(str(place + 1), group, 4), against(place)))
    clusters = Column("cluster", text=True)
    return [*columns, _RowColumn(clusters, lambda row: " ".join(map(str, row.one.clusters)))]


def _baseline_columns(found: Comparison) -> list[_RowColumn]:
    """The p-value against the baseline, and the verdict."""

    def p_cell(row: _Row) -> Cell:
        if row.is_baseline:
            return ""
        pair = row.found.pair(row.measure, row.one.system.name, row.found.baseline)
        return p_value(pair.test.p_value)

    def verdict(row: _Row) -> Cell:
        if row.is_baseline:
            return "baseline"
        pair = row.found.pair(row.measure, row.one.system.name, row.found.baseline)
        if pair.unchecked:
            return "not checked"
        if pair.better is None:
            return "no difference"
        return "better" if pair.better == row.one.system.name else "worse"

    return [
        _RowColumn(Column("p (Holm)", decimals=4), p_cell),
        _RowColumn(Column(f"against {found.baseline}", text=True), verdict),
    ]


def _property_columns(found: Comparison) -> list[_RowColumn]:
    """The means of `_PROPERTIES` that some system has, and the number of blank summaries."""

    def mean(name: str) -> _RowColumn:
        shown = _PROPERTIES[name]
        return _RowColumn(
            Column(shown.heading, "summaries", shown.decimals),
            lambda row: row.one.system.means[name],
        )

    known = [
        name
        for name in _PROPERTIES
        if not all(math.isnan(system.means[name]) for system in found.systems)
    ]
    blank = _RowColumn(Column("blank", "summaries"), lambda row: row.one.system.blank)
    return [*map(mean, known), blank]


def _notes(found: Comparison) -> list[str]:
    notes = [
        f"{_examples(found)} that all {len(found.systems)} systems have, matched by column "
        f"{found.matched_by!r}; bootstrap intervals, p-values of approximate randomization ({found.options['n']} "
        f"resamples), corrected by Holm's method for the {len(next(iter(found.pairs.values())))} pairs of a measure."
    ]
    if found.baseline is None:
        notes.append("Systems in the same cluster do not differ significantly.")
    notes += [f"No winner is declared: {one.unchecked}." for one in found.systems if one.unchecked]
    return [*notes, *found.notes, found.signature]


def _direction(measure: str) -> str:
    return "higher" if higher_is_better(measure) else "lower"


def _number(value: float | None, sign: str = "", least: float = -math.inf) -> str:
    if value is None or math.isnan(value):
        return EMPTY
    return f"<{least:.4f}" if value < least else f"{value:{sign}.4f}"
