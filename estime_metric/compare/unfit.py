"""Why a measure cannot compare two systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from estime_metric.compare.examples import Examples
from estime_metric.compare.failures import SHORT
from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import Measure

#: If the coverages of two systems differ by more than this, measures that judge only checked tokens
#: cannot compare them. This limit is our choice; no study chose it.
COVERAGE_GAP = 0.25


def why_not(
    examples: Examples, systems: pd.DataFrame, pair: Mapping[str, Any], shorter: str = ""
) -> str:
    """Why a measure cannot compare two systems, as the end of a sentence; empty if it can.

    Counts cannot compare a system with another one that is much longer, and no measure calls it better: a
    single word of the source is consistent with it.

    Args:
        examples: what is compared.
        systems: `Comparison.systems`.
        pair: a row of `Comparison.pairs`.
        shorter: the system that may be much shorter, if any.
    """
    definition = examples.definitions[pair["measure"]]
    names = [pair["system_a"], pair["system_b"]]
    reason = uncomparable(definition, systems.loc[names])
    if reason or definition is None or definition.higher_is_better is None:
        return reason
    first, second = (systems.loc[name, "coverage"] for name in names)
    if definition.checked_only and abs(first - second) > COVERAGE_GAP:
        return " and ".join(f"{_checked(systems.loc[name])}" for name in names) + " were checked"
    for name, other in (names, reversed(names)):
        if name != shorter and (definition.kind == "count" or pair["better_score"] == name):
            rows = (examples.tables[each] for each in (other, name))
            if failed := SHORT.failed_rows(
                *(table.assign(length=table["tokens"]) for table in rows)
            ):
                return f"{failed.new.sum()} of {examples.examples} summaries of {name} {SHORT.name}"
    return ""


def uncomparable(definition: Measure | None, systems: pd.DataFrame) -> str:
    """Why a measure cannot compare some systems with any other, by what it checks of them, as the end of a
    sentence; empty if it can.

    Args:
        definition: the measure. One that does not judge, and a column of others, can always be
            compared.
        systems: rows of `Comparison.systems`.
    """
    if definition is None or definition.higher_is_better is None:
        return ""
    reasons = []
    for _, system in systems.iterrows():
        if definition.kind == "count" and 2 * system["blank"] > system["summaries"]:
            reasons.append(
                f"{system['blank']:.0f} of {system['summaries']:.0f} summaries of {system.name} are blank"
            )
        elif definition.checked_only and system["coverage"] < LOW_COVERAGE:
            reasons.append(f"only {_checked(system)} were checked")
    return " and ".join(reasons)


def _checked(system: pd.Series) -> str:
    return f"{system['coverage']:.0%} of the tokens of {system.name}"
