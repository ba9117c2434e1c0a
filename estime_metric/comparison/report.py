"""A comparison -> tables for readers, rows and one object for programs, and a plot."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from estime_metric.comparison.systems import Comparison, higher_is_better
from estime_metric.comparison.verdicts import System
from estime_metric.comparison.wording import all_verdicts, notes, verdict_sentences
from estime_metric.measures import MEASURES, measure_of
from estime_metric.report.tables import Column, Section, Table, mean_cells, p_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMED_VERDICTS = 3  # below the plot


def to_tables(comparison: Comparison) -> tuple[Table, Table, Table]:
    """The tables that ``estime compare`` prints: what the systems wrote; for each measure the mean of
    each system, the best first; and the differences of two systems, with everything else in the notes.
    """
    known = {
        name: heading
        for name, heading in {
            "tokens": "tokens",
            "coverage": "checked",
            "copied_density": "copied_density",
        }.items()
        if not all(math.isnan(system.means[name]) for system in comparison.systems.values())
    }
    systems = Table(
        "systems",
        f"{' and '.join(comparison.systems) if len(comparison.systems) == 2 else 'Systems'} compared",
        (
            Column("system", text=True),
            Column("summaries"),
            Column("blank"),
            *(Column(heading, decimals=2) for heading in known.values()),
        ),
        (
            Section(
                "",
                [
                    (system.name, system.summaries, system.blank, *map(system.means.get, known))
                    for system in comparison.systems.values()
                ],
            ),
        ),
    )
    means = Table(
        "means",
        "Means",
        (Column("system", text=True), Column("mean"), Column("95% interval")),
        [
            Section(
                _title(measure),
                [
                    (name, *mean_cells(measure, of_systems[name]))
                    for name in comparison.ranking(measure)
                ],
            )
            for measure, of_systems in comparison.means.items()
        ],
    )
    differences = Table(
        "differences",
        "Differences, first minus second",
        (
            Column("first", text=True),
            Column("second", text=True),
            Column("difference"),
            Column("95% interval"),
            Column("p (Holm)" if len(comparison.pairs) > 1 else "p", decimals=4),
            Column("first better"),
            Column("tied"),
            Column("second better"),
        ),
        [
            Section(
                _title(measure),
                [
                    (
                        *names,
                        *mean_cells(measure, comparison.differences[measure][names]),
                        p_value(test.p_holm),
                        test.better_first,
                        test.ties,
                        test.better_second,
                    )
                    for names, test in tests.items()
                ],
            )
            for measure, tests in comparison.tests.items()
        ],
        notes(comparison),
    )
    return systems, means, differences


def to_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One flat row for each measure and pair of systems, for a file or a data frame."""
    return [
        _without_nan(_row(comparison, measure, first, second))
        for measure in comparison.tests
        for first, second in comparison.pairs
    ]


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Everything, for one JSON object: the verdicts, the systems, their means, the rows of `to_rows`."""
    return {
        "signature": comparison.signature,
        "verdicts": [
            {
                "system_a": first,
                "system_b": second,
                "winner": comparison.winner(first, second),
                "verdict": "; ".join(verdict_sentences(comparison, first, second)),
            }
            for first, second in comparison.pairs
        ],
        "examples": comparison.examples,
        "sources": comparison.sources,
        "matched_by": comparison.matched_by,
        "baseline": comparison.baseline,
        "n": comparison.n,
        "seed": comparison.seed,
        "systems": {name: _properties(system) for name, system in comparison.systems.items()},
        "means": {
            measure: {name: means[name].to_dict() for name in comparison.ranking(measure)}
            for measure, means in comparison.means.items()
        },
        "pairs": to_rows(comparison),
        "notes": notes(comparison),
    }


def plot_copying(comparison: Comparison, measure: str) -> Figure:
    """A compared measure against the share of a summary's tokens that are copied from its source,
    one point per system, and the verdicts.

    ValueError: the measure was not compared, or a system lacks the column ``copied``.
    """
    from estime_metric.comparison.plots.trade_off import plot_trade_off

    names = comparison.ranking(measure)
    copied = [comparison.systems[name].means["copied_density"] for name in names]
    for name, value in zip(names, copied, strict=True):
        if math.isnan(value):
            raise ValueError(
                f"Expected a column 'copied_density' for the plot, but {name} has none. Score it again with "
                'measures="copied".'
            )
    means = [comparison.means[measure][name] for name in names]
    verdicts = all_verdicts(comparison)
    if len(verdicts) > _NAMED_VERDICTS:
        winners = sum(comparison.winner(*names) is not None for names in comparison.pairs)
        verdicts = [f"{winners} of {len(comparison.pairs)} pairs of systems have a winner"]
    return plot_trade_off(
        copied,
        [mean.mean for mean in means],
        names,
        [(mean.low, mean.high) for mean in means],
        x_label="copied: mean share of a summary's tokens that are copied from the source",
        y_label=f"mean of {measure} ({_direction(measure)} is better)",
        title=f"{measure} against copying",
        y_least=MEASURES[measure_of(measure)].low,
        notes=verdicts,
    )


def _row(comparison: Comparison, measure: str, first: str, second: str) -> dict[str, Any]:
    vote = comparison.vote(measure, first, second)
    test, around = vote.test, comparison.differences[measure][first, second]
    systems = {"a": comparison.systems[first], "b": comparison.systems[second]}
    return {
        "measure": measure,
        "system_a": first,
        "system_b": second,
        "winner": comparison.winner(first, second),
        "verdict": "; ".join(verdict_sentences(comparison, first, second)),
        "favors": vote.favors,
        "examples": test.examples,
        "sources": None if comparison.sources is None else test.groups,
        "left_out": test.left_out,
        "mean_a": test.mean_first,
        "mean_b": test.mean_second,
        "difference": test.difference,
        "low": around.low,
        "high": around.high,
        "p_value": test.p_value,
        "p_holm": test.p_holm,
        "a_better": test.better_first,
        "ties": test.ties,
        "b_better": test.better_second,
        **{
            f"{name}_{letter}": value
            for letter, system in systems.items()
            for name, value in {"blank": system.blank, **system.means}.items()
        },
        "signature": comparison.signature,
    }


def _properties(system: System) -> dict[str, Any]:
    properties = asdict(system)
    return _without_nan(properties.pop("means") | properties)


def _title(measure: str) -> str:
    return f"{measure} ({_direction(measure)} is better)"


def _direction(measure: str) -> str:
    return "higher" if higher_is_better(measure_of(measure)) else "lower"


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """NaN as nothing: null in JSON, an empty cell in CSV."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in row.items()
    }
