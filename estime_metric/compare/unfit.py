"""Why a measure cannot compare two systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
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
    both = systems.loc[names]
    reason = uncomparable(definition, both)
    if reason or definition is None or definition.higher_is_better is None:
        return reason
    if definition.checked_only and both["coverage"].agg(np.ptp) > COVERAGE_GAP:
        return f"{' and '.join(both.apply(_checked, axis=1))} were checked"
    for name, other in (names, names[::-1]):
        may_gain = definition.kind == "count" or pair["better_score"] == name
        failed = SHORT.failed_rows(examples.tables[other], examples.tables[name])
        if failed is not None and may_gain and name != shorter:
            return f"{failed['new'].sum()} of {len(failed)} summaries of {name} {SHORT.name}"
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
