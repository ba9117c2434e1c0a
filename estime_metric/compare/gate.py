"""Whether a new system may take the place of another: the gate of ``estime compare --fail-if-worse``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any

import pandas as pd

from estime_metric._messages import counted
from estime_metric.compare.differences import LAST_DIGIT, Comparison, differences
from estime_metric.compare.examples import OF_TEXTS, Examples
from estime_metric.measures import MEASURES, measure_of
from estime_metric.show.cells import mean_cells
from estime_metric.table.intervals import Interval
from estime_metric.table.significance import LEAST_GROUPS, is_difference

LEAST_SOURCES = 10  # with fewer, a gate would hardly ever see a difference

#: A system copies more if its mean `copied_density` is significantly greater, and more than this many
#: times the other's: copying lowers `inconsistency`, whether what surrounds it is right or wrong.
MORE_COPYING = 1.1


SIGNIFICANTLY = "significantly"


class Verdict(IntEnum):
    """What the gate says; the values are exit statuses. Of several, the first in this order applies."""

    WORSE = 3
    COPIES = 4
    UNDECIDED = 2
    INCOMPLETE = 1
    PASSED = 0


def check_gate(examples: Examples) -> None:
    """Raises ValueError if no verdict is possible: there are not two systems, the measure has no
    direction, fewer than `LEAST_SOURCES` sources have values of it, or the copying of a system or its
    blank summaries are not known.
    """
    if len(examples.names) != 2:
        raise ValueError(
            f"Expected two systems to decide whether one is worse, but got {len(examples.names)}."
        )
    measure = examples.measures[0]
    if examples.higher_is_better[measure] is None:
        advice = "Name it with `higher` or `lower`."
        raise ValueError(
            f"Expected a measure with a direction to decide whether a system is worse, but {measure} has "
            f"none. {'Choose another one.' if measure_of(measure) in MEASURES else advice}"
        )
    has_values = examples.values[measure].notna().all(axis=1)
    sources = len(set(pd.Series(examples.units)[has_values.array]))
    if sources < LEAST_SOURCES:
        raise ValueError(
            f"Expected at least {LEAST_SOURCES} sources with values of {measure} to decide whether a "
            f"system is worse, but got {sources}."
        )
    for name in OF_TEXTS:
        known = examples.properties[name].notna().any()
        for system in known.index[~known]:
            raise ValueError(
                f"Expected the texts of {system}, or its {name} from 'estime score', to decide whether a "
                "system is worse, but got neither."
            )


def judge(comparison: Comparison) -> tuple[Verdict, list[str]]:
    """The verdict on the second of two systems, the one that is not the baseline, by the first measure;
    and a sentence for each reason, those of the verdict first. Raises ValueError as `check_gate`.
    """
    check_gate(comparison)
    findings = sorted(_findings(comparison), key=lambda finding: list(Verdict).index(finding[0]))
    if not findings:
        return Verdict.PASSED, [_passed(comparison)]
    return findings[0][0], [sentence for _, sentence in findings]


def _findings(comparison: Comparison) -> Iterator[tuple[Verdict, str]]:
    """What speaks against the second system, or against a verdict."""
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    judged = _judged(comparison)
    verdict, how = _worsening(judged, Verdict.WORSE, bool(comparison.higher_is_better[measure]))
    if judged["why_not"]:
        because = f"{measure} cannot compare {base} and {new}, because {judged['why_not']}."
        yield Verdict.UNDECIDED, because
    elif how:
        difference = _difference(measure, judged)
        yield verdict, f"{new} is {how} worse than {base} in {measure}: {difference}."

    blank = _compared(comparison, comparison.properties["blank"])
    verdict, how = _worsening(blank, Verdict.WORSE)
    if how:
        difference = _difference("blank", blank)
        yield verdict, f"{new} has {how} more blank summaries than {base}: {difference}."

    copied = _compared(comparison, comparison.properties["copied_density"])
    verdict, how = _worsening(copied, Verdict.COPIES)
    if how and copied["mean_b"] > MORE_COPYING * copied["mean_a"]:
        densities = f"copied_density {copied['mean_b']:.1f} and {copied['mean_a']:.1f}"
        yield verdict, f"{new} copies {how} more than {base}: {densities}, {_differing(copied)}."

    is_undefined = comparison.values[measure].isna()
    counts = _counts(is_undefined.sum().to_dict())
    verdict, how = _worsening(_compared(comparison, is_undefined * 1.0), Verdict.UNDECIDED)
    if how == SIGNIFICANTLY:
        yield verdict, f"{new} has {how} more undefined values of {measure} than {base}: {counts}."
    if measure_of(measure) not in MEASURES and is_undefined.any(axis=None):
        yield Verdict.INCOMPLETE, f"Values of {measure} are missing: {counts}."
    if any(comparison.skipped.values()):
        skipped = _counts(comparison.skipped)
        yield Verdict.INCOMPLETE, f"Rows were skipped or have no counterpart: {skipped}."
    if copied["left_out"]:
        judged_on = f"{copied['examples']} of {comparison.examples} examples"
        yield Verdict.INCOMPLETE, f"Copying is judged on {judged_on}: the others lack a text."


def _passed(comparison: Comparison) -> str:
    base, new = comparison.compared[0]
    measure, judged = comparison.measures[0], _judged(comparison)
    if judged["ties"] == comparison.examples:
        return f"{new} and {base} are equal in all {comparison.examples} examples in {measure}."
    difference = _difference(measure, judged)
    return f"{new} is not significantly worse than {base} in {measure}: {difference}."


def _judged(comparison: Comparison) -> dict[str, Any]:
    """The row of `Comparison.pairs` that decides."""
    row: dict[str, Any] = comparison.pairs.iloc[0].to_dict()
    return row


def _compared(comparison: Comparison, scores: pd.DataFrame) -> dict[str, Any]:
    """The same of a property, of which lower values are better."""
    known = scores.where(scores.notna().all(axis=1))
    (row,) = differences(comparison, known, is_higher_better=False, tolerance=LAST_DIGIT)
    return row


def _worsening(
    row: Mapping[str, Any], verdict: Verdict, is_higher_better: bool = False
) -> tuple[Verdict, str]:
    """What follows if the second system is worse, and how it is so: significantly, or apparently if the
    interval says so but too few sources differ for significance. Otherwise the text is empty.
    """
    is_against = row["low"] > 0 if is_higher_better else row["high"] < 0
    if is_against and is_difference(row["low"], row["high"], row["p_holm"]):
        return verdict, SIGNIFICANTLY
    if is_against and row["units_differing"] < LEAST_GROUPS:
        return Verdict.UNDECIDED, "apparently"
    return Verdict.PASSED, ""


def _difference(measure: str, row: Mapping[str, Any]) -> str:
    interval = Interval(row["difference"], row["low"], row["high"], row["examples"])
    difference, ends = mean_cells(measure, interval)
    sides = f"{row['system_a']} minus {row['system_b']}"
    return f"{sides} is {difference} {ends}, {_differing(row)}"


def _differing(row: Mapping[str, Any]) -> str:
    """In how many sources the systems differ, and how many are needed if these are too few."""
    least = f" (significance needs {LEAST_GROUPS})" if row["units_differing"] < LEAST_GROUPS else ""
    return f"{row['units_differing']} of {counted(row['units'], 'source')} differ{least}"


def _counts(by_system: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in by_system.items())
