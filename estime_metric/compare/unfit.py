"""When a measure cannot compare two systems."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd

from estime_metric.compare.examples import Examples
from estime_metric.compare.failures import SHORT, failures
from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import Measure

#: If the coverages of two systems differ by more than this, measures that judge only checked tokens
#: cannot compare them. This limit is our choice; no study chose it.
COVERAGE_GAP = 0.25


def unfit(definition: Measure | None, systems: pd.DataFrame) -> str:
    """Why a measure cannot compare systems, or one system with any other, by what it checks of them, as the
    end of a sentence; empty if it can.

    Args:
        definition: the measure. One that does not judge, and a column of others, can always be
            compared.
        systems: one or two rows of `Comparison.systems`.
    """
    if definition is None or definition.higher_is_better is None:
        return ""
    reasons = []
    for name, system in systems.iterrows():
        if definition.kind == "count" and 2 * system["blank"] > system["summaries"]:
            reasons.append(
                f"{system['blank']:.0f} of {system['summaries']:.0f} summaries of {name} are blank"
            )
        elif definition.checked_only and system["coverage"] < LOW_COVERAGE:
            reasons.append(f"only {_checked(systems, name)} were checked")
    if not reasons and definition.checked_only and np.ptp(systems["coverage"]) > COVERAGE_GAP:
        first, second = systems.index
        return f"{_checked(systems, first)} and {_checked(systems, second)} were checked"
    return " and ".join(reasons)


def favored_by_length(
    examples: Examples, definition: Measure | None, shorter: str, longer: str, better: str | None
) -> str:
    """Why a measure cannot compare a system with another one that is much longer, as the end of a sentence;
    empty if it can. Counts cannot do it, and the ``better`` score is never the shorter one's: a single word
    of the source is consistent with it.
    """
    if definition is None or definition.higher_is_better is None:
        return ""
    if definition.kind == "count" or better == shorter:
        tables = [
            examples.described(name).rename(columns={"tokens": "length"})
            for name in (longer, shorter)
        ]
        for kind, is_short, _ in failures([SHORT], *tables):
            return f"{is_short.sum()} of {len(is_short)} summaries of {shorter} {kind.name}"
    return ""


def _checked(systems: pd.DataFrame, name: Hashable) -> str:
    return f"{systems.loc[name, 'coverage']:.0%} of the tokens of {name}"
