"""Two systems by one measure: how they differ, or why the measure cannot compare them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from estime_metric.compare.examples import Examples
from estime_metric.compare.failures import SHORT
from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import Measure

#: If the coverages of two systems differ by more than this, measures that judge only checked tokens
#: cannot compare them. This limit is our choice; no study chose it.
COVERAGE_GAP = 0.25


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How two systems differ by one measure: a row of `Comparison.pairs`.

    Attributes:
        measure: ``alarms``, or ``alarms_layer12`` of several layers.
        system_a, system_b: the systems.
        better_score: the system with the significantly better score: the interval of the difference excludes
            0, and ``p_holm`` is below 0.05. ``None`` if there is none, if the measure cannot compare the two,
            or if its direction is not known. Whether it is the better system the command does not say.
        why_not: why the measure cannot compare them, as the end of a sentence; otherwise empty.
        mean_a, mean_b: their means.
        difference: the difference of these, with scores that differ only by rounding made equal.
        low, high: the ends of its 95% interval.
        p_value: of approximate randomization.
        p_holm: corrected by Holm's method for the number of pairs of systems.
        a_better, ties, b_better: the number of examples in which ``system_a`` has the better value, both are
            equal, and ``system_b`` has the better one; the first and the last are ``None`` if the direction
            is not known.
        examples, left_out: the number of examples, and of those without a value.
        units: the number of different sources, which are drawn and swapped as wholes, or of examples if the
            sources are not known.
        units_differing: those in which the two systems differ.
    """

    measure: str
    system_a: str
    system_b: str
    better_score: str | None
    why_not: str = ""
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    a_better: int | None
    ties: int
    b_better: int | None
    examples: int
    left_out: int
    units: int
    units_differing: int


def why_not(examples: Examples, systems: pd.DataFrame, pair: Difference, shorter: str = "") -> str:
    """Why a measure cannot compare two systems, as the end of a sentence; empty if it can.

    Counts cannot compare a system with another one that is much longer, and no measure calls it better: a
    single word of the source is consistent with it.

    Args:
        examples: what is compared.
        systems: `Comparison.systems`.
        pair: how the two systems differ.
        shorter: the system that may be much shorter, if any.
    """
    definition = examples.definitions[pair.measure]
    names = [pair.system_a, pair.system_b]
    both = systems.loc[names]
    reason = uncomparable(definition, both)
    if reason or definition is None or definition.higher_is_better is None:
        return reason
    if definition.checked_only and both["coverage"].agg(np.ptp) > COVERAGE_GAP:
        return f"{' and '.join(both.apply(_checked, axis=1))} were checked"
    for name, other in (names, names[::-1]):
        may_gain = definition.kind == "count" or pair.better_score == name
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
