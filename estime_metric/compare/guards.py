"""When a measure cannot compare two systems, whatever its values are."""

from __future__ import annotations

import pandas as pd

from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import MEASURES, measure_of

#: If the coverages of two systems differ by more than this, measures that judge only checked tokens
#: cannot compare them. This limit is our choice; no study chose it.
COVERAGE_GAP = 0.25

#: If the summaries of one system are more than this many times as long as those of another, counts
#: cannot compare the two, and the shorter one is never the better one: a single word of the source is
#: consistent with it. This limit is our choice too.
LENGTH_RATIO = 4.0


def why_not(measure: str, first: pd.Series, second: pd.Series, better: str | None) -> str:
    """Why a measure cannot compare two systems, as the end of a sentence; empty if it can.

    Args:
        measure: its column.
        first, second: the rows of the systems in `Comparison.systems`.
        better: the system with the significantly better value, if any.
    """
    reasons = [reason for system in (first, second) if (reason := unfit(measure, system))]
    if reasons:
        return " and ".join(reasons)
    definition = MEASURES[measure_of(measure)]
    if definition.checked_only and abs(first["coverage"] - second["coverage"]) > COVERAGE_GAP:
        return f"{_checked(first)} and {_checked(second)} were checked"
    shorter, longer = sorted((first, second), key=lambda system: system["tokens"])
    is_much_shorter = longer["tokens"] > LENGTH_RATIO * shorter["tokens"]
    if is_much_shorter and (definition.kind == "count" or better == shorter.name):
        return (
            f"{shorter.name} has {shorter['tokens']:.1f} tokens per summary and {longer.name} "
            f"{longer['tokens']:.1f}"
        )
    return ""


def unfit(measure: str, system: pd.Series) -> str:
    """Why a measure cannot compare a system with any other one, as the end of a sentence; empty if it
    can.
    """
    definition = MEASURES[measure_of(measure)]
    if definition.kind == "count" and 2 * system["blank"] > system["summaries"]:
        return f"{system['blank']:.0f} of {system['summaries']:.0f} summaries of {system.name} are blank"
    if definition.checked_only and system["coverage"] < LOW_COVERAGE:
        return f"only {_checked(system)} were checked"
    return ""


def _checked(system: pd.Series) -> str:
    return f"{system['coverage']:.0%} of the tokens of {system.name}"
