"""Whether a new system may take the place of another: the gate of ``estime compare --fail-if-worse``."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from estime_metric.compare.differences import Comparison
from estime_metric.measures import measure_of
from estime_metric.table.significance import is_difference

LEAST_SOURCES = 10  # with fewer, a gate would hardly ever see a difference

#: A system copies more if its mean `copied_density` is significantly greater, and more than this many
#: times the other's: copying lowers `inconsistency`, whether what surrounds it is right or wrong.
MORE_COPYING = 1.1


class Verdict(IntEnum):
    """What the gate says; the values are exit statuses."""

    PASSED = 0
    UNDECIDED = 2
    WORSE = 3
    COPIES = 4


def check_sources(comparison: Comparison) -> None:
    """Raises ValueError if the examples of a comparison have too few sources for a gate."""
    units = comparison.pairs["units"].min()
    if units < LEAST_SOURCES:
        raise ValueError(
            f"Expected at least {LEAST_SOURCES} sources to decide whether a system is worse, but got "
            f"{units}."
        )


def judge(comparison: Comparison) -> tuple[Verdict, str]:
    """The verdict on ``system_b`` of the only pair of systems, and a sentence that gives the reason.

    Args:
        comparison: of the measure that judges, then of the measures that the texts decide, `OF_TEXTS`.
    """
    rows = {measure_of(row["measure"]): row for row in comparison.pairs.to_dict("records")}
    measure = comparison.measures[0]
    judged, copying, blank = rows[measure_of(measure)], rows["copied_density"], rows["blank"]
    base, new = judged["system_a"], judged["system_b"]
    if _rises(blank):
        return Verdict.WORSE, f"{new} has significantly more blank summaries than {base}."
    if judged["why_not"] or judged["units"] < LEAST_SOURCES:
        reason = judged["why_not"] or f"only {judged['units']} sources have a value"
        return Verdict.UNDECIDED, f"{measure} cannot compare {base} and {new}, because {reason}."
    if judged["better"] == base:
        return Verdict.WORSE, f"{new} is significantly worse than {base} in {measure}."
    if _rises(copying) and copying["mean_b"] > MORE_COPYING * copying["mean_a"]:
        return Verdict.COPIES, (
            f"{new} copies significantly more than {base}: copied_density {copying['mean_b']:.1f} and "
            f"{copying['mean_a']:.1f}. Copying lowers the scores of a wrong summary too."
        )
    return Verdict.PASSED, f"{new} is not significantly worse than {base} in {measure}."


def _rises(row: dict[str, Any]) -> bool:
    """Whether the second system has significantly higher values."""
    return row["difference"] < 0 and is_difference(row["low"], row["high"], row["p_holm"])
