"""Whether a new system may take the place of another: the gate of ``estime compare --fail-if-worse``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any

import pandas as pd

from estime_metric._messages import counted, shortened
from estime_metric.compare.differences import Comparison
from estime_metric.compare.examples import Examples
from estime_metric.compare.failures import failures, kinds_of, rows_of
from estime_metric.compare.request import Gate
from estime_metric.compare.unfit import favored_by_length, unfit
from estime_metric.measures import RECOMMENDED, measure_of
from estime_metric.show.cells import EMPTY, significant, with_direction
from estime_metric.table.significance import LEAST_GROUPS, is_difference

LEAST_SOURCES = 10  # with fewer, a gate would hardly ever see a difference

#: A system copies more if its mean `copied_density` is significantly greater, and more than this many
#: times the other's. See docs/command-line.md#a-gate for how often that stops a better system.
MORE_COPYING = 1.25

#: A difference of `inconsistency` that nobody would act on. Of 132 significant differences of real
#: systems, five were not greater; people called all of these equal.
LEAST_DIFFERENCE = 0.005

SIGNIFICANTLY = "significantly"

#: What a gate does not see if a column of `rows_of` is not known.
UNSEEN = {
    "length": "whether summaries are short",
    "repetition": "whether they repeat themselves",
    "text": "whether many are one text",
}


class Verdict(IntEnum):
    """What the gate says; the values are exit statuses, and 2 is left for what is refused. Of several,
    the first in this order applies.
    """

    WORSE = 3
    COPIES = 4
    UNDECIDED = 5
    INCOMPLETE = 1
    PASSED = 0


#: What speaks against a system, or against a verdict, with the verdict that follows from it.
Finding = tuple[Verdict, str]

#: A row of `Comparison.pairs`.
Row = Mapping[str, Any]


def check_gate(examples: Examples, gate: Gate) -> None:
    """Raises ValueError if no verdict is possible: there are not two systems, the measure has no
    direction, a range is stated of a measure of ESTIME, fewer than `LEAST_SOURCES` sources have values, or
    the copying of a system or its blank summaries are not known.
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
            f"none. {'Choose another one.' if examples.definitions[measure] else advice}"
        )
    if gate.range is not None and examples.definitions[measure]:
        raise ValueError(
            f"Expected argument `range` only with a column of others, but {measure} is a measure of ESTIME."
        )
    has_values = examples.values[measure].notna().all(axis=1)
    sources = len(set(pd.Series(examples.units)[has_values.array]))
    if sources < LEAST_SOURCES:
        raise ValueError(
            f"Expected at least {LEAST_SOURCES} sources with values of {measure} to decide whether a "
            f"system is worse, but got {sources}."
        )
    for name in ("copied_density", "blank"):
        known = examples.properties[name].notna().any()
        for system in known.index[~known]:
            raise ValueError(
                f"Expected the texts of {system}, or its {name} from 'estime score', to decide whether a "
                "system is worse, but got neither."
            )


def judge(
    comparison: Comparison,
    *,
    tolerance: float = 0.0,
    allow_shorter: bool = False,
    allow_copying: bool = False,
    range: tuple[float, float] | None = None,
) -> tuple[Verdict, list[str]]:
    """The verdict on the second of two systems, the one that is not the baseline, by the first measure;
    and a sentence for each reason, those of the verdict first, and then what the gate could not see.

    Args:
        comparison: two systems.
        tolerance: how much worse the mean of the measure may be, 0 or more: the system is worse only
            if the whole 95% interval lies beyond it. A difference of `inconsistency` of at most
            `LEAST_DIFFERENCE` is never worse. Blank summaries and copying have no tolerance.
        allow_shorter: whether summaries may have less than a third of the words of the base's.
        allow_copying: whether summaries may copy longer runs of words.
        range: the least and the greatest possible value of the measure if it is a column of others.
            Values outside it are a failure, and all others none. Without it, values that are far better
            than the base's best one, or all the same, are undecided.

    Raises:
        ValueError: as `check_gate`; or an argument is invalid, see `Gate`.
    """
    gate = Gate(
        tolerance=tolerance, allow_shorter=allow_shorter, allow_copying=allow_copying, range=range
    )
    check_gate(comparison, gate)
    findings = [
        *_worse_scores(comparison, gate),
        *_more_blank(comparison),
        *([] if allow_copying else _more_copying(comparison)),
        *_failed_rows(comparison, gate),
        *_gaps(comparison),
    ]
    findings.sort(key=lambda finding: list(Verdict).index(finding[0]))
    reasons = [sentence for _, sentence in findings]
    verdict = findings[0][0] if findings else Verdict.PASSED
    if verdict is Verdict.PASSED:
        reasons = [_passed(comparison, gate), *reasons]
    return verdict, reasons


def _worse_scores(comparison: Comparison, gate: Gate) -> Iterator[Finding]:
    """Whether the measure that decides is worse, or cannot compare the two."""
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    verdict, how = _worsening_of_scores(comparison, gate)
    definition, worse = comparison.definitions[measure], base if how else None
    why_not = unfit(definition, comparison.systems) or favored_by_length(
        comparison, definition, base, new, worse
    )
    if why_not:
        because = f"{measure} cannot compare {base} and {new}, because {why_not}."
        yield Verdict.UNDECIDED, because
    elif how and not _is_slight(comparison):
        beyond = f" by more than {gate.tolerance:g}" if gate.tolerance else ""
        named = f"{_named(comparison)}{beyond}"
        yield verdict, f"{new} is {how} worse than {base} in {named}: {_difference(_judged(comparison))}."


def _passed(comparison: Comparison, gate: Gate) -> str:
    (base, new), named, judged = comparison.compared[0], _named(comparison), _judged(comparison)
    if judged["ties"] == comparison.examples:
        return f"{new} and {base} are equal in all {comparison.examples} examples in {named}."
    how = f"not {SIGNIFICANTLY} worse than {base}"
    if _worsening_of_scores(comparison, gate)[1]:
        slight = significant(abs(judged["difference"]))
        how = f"worse than {base} by {slight}, no more than {LEAST_DIFFERENCE},"
    elif gate.tolerance:
        how = f"not shown to be worse than {base} by more than {gate.tolerance:g}"
    return f"{new} is {how} in {named}: {_difference(judged)}."


def _worsening_of_scores(comparison: Comparison, gate: Gate) -> tuple[Verdict, str]:
    """The `_worsening` of the measure that decides."""
    return _worsening(
        _judged(comparison),
        Verdict.WORSE,
        is_higher_better=bool(comparison.higher_is_better[comparison.measures[0]]),
        tolerance=gate.tolerance,
    )


def _is_slight(comparison: Comparison) -> bool:
    """Whether nobody would act on the difference."""
    is_recommended = measure_of(comparison.measures[0]) == RECOMMENDED
    return is_recommended and abs(_judged(comparison)["difference"]) <= LEAST_DIFFERENCE


def _failed_rows(comparison: Comparison, gate: Gate) -> Iterator[Finding]:
    """Which kinds of failure there are, and what the gate cannot see without texts."""
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    base_rows, rows = rows_of(comparison, gate)
    for kind, of_new, of_base in failures(kinds_of(comparison, gate), base_rows, rows):
        first = rows[of_new].sort_values("line").iloc[0]
        what = kind.name.format(measure=measure)
        yield (
            Verdict.UNDECIDED,
            f"{of_new.sum()} of {len(rows)} summaries of {new} {what}, and {of_base.sum()} of {base}; the "
            f"first is line {first['line']}{_quoted(first[kind.shows])}.{kind.advice}",
        )
    unseen = [
        what
        for column, what in UNSEEN.items()
        if (base_rows[column].isna() | rows[column].isna()).all()
    ]
    if unseen:
        yield (
            Verdict.PASSED,
            f"The texts of {base} and {new} are not both there, so the gate does not see {', '.join(unseen)}.",
        )


def _quoted(cell: Any) -> str:
    """A text or a value in parentheses, nothing if there is none."""
    if isinstance(cell, str):
        return f" ({shortened(cell)!r})" if cell.strip() else ""
    return "" if pd.isna(cell) else f" ({significant(cell)})"


def _more_blank(comparison: Comparison) -> Iterator[Finding]:
    base, new = comparison.compared[0]
    blank = _guard(comparison, "blank")
    verdict, how = _worsening(blank, Verdict.WORSE)
    if how:
        yield verdict, f"{new} has {how} more blank summaries than {base}: {_difference(blank)}."
    if blank["left_out"]:
        known_of = f"{blank['examples']} of {comparison.examples} examples"
        yield Verdict.INCOMPLETE, f"Whether summaries are blank is known of {known_of}."


def _more_copying(comparison: Comparison) -> Iterator[Finding]:
    base, new = comparison.compared[0]
    copied = _guard(comparison, "copied_density")
    verdict, how = _worsening(copied, Verdict.COPIES)
    if how and copied["mean_b"] > MORE_COPYING * copied["mean_a"]:
        densities = f"copied_density {copied['mean_b']:.1f} and {copied['mean_a']:.1f}"
        yield (
            verdict,
            f"{new} copies {how} more than {base}: {densities}, {_differing(copied)}. Pass `allow_copying` if it "
            "may.",
        )
    known = comparison.properties["copied_density"].notna().all(axis=1).sum()
    if known < comparison.examples:
        judged_on = f"{known} of {comparison.examples} examples"
        yield Verdict.INCOMPLETE, f"Copying is judged on {judged_on}: the others lack a text."


def _gaps(comparison: Comparison) -> Iterator[Finding]:
    """What is missing: values of the measure that decides, or rows."""
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    is_undefined = comparison.values[measure].isna()
    counts = _counts(is_undefined.sum().to_dict())
    verdict, how = _worsening(_guard(comparison, "undefined"), Verdict.UNDECIDED)
    if how == SIGNIFICANTLY:
        yield verdict, f"{new} has {how} more undefined values of {measure} than {base}: {counts}."
    definition = comparison.definitions[measure]
    if is_undefined.any(axis=None) and not (definition and definition.can_be_undefined):
        yield Verdict.INCOMPLETE, f"Values of {measure} are missing: {counts}."
    if any(comparison.skipped.values()):
        skipped = _counts(comparison.skipped)
        yield Verdict.INCOMPLETE, f"Rows were skipped or have no counterpart: {skipped}."


def _worsening(
    row: Row,
    verdict: Verdict,
    *,
    is_higher_better: bool = False,
    tolerance: float = 0.0,
) -> tuple[Verdict, str]:
    """What follows if the second system is worse by more than a tolerance, and how it is so: significantly,
    or apparently if the interval says so but too few sources differ for significance. Otherwise the
    text is empty.
    """
    is_against = row["low"] > tolerance if is_higher_better else row["high"] < -tolerance
    if is_against and is_difference(row["low"], row["high"], row["p_holm"]):
        return verdict, SIGNIFICANTLY
    if is_against and row["units_differing"] < LEAST_GROUPS:
        return Verdict.UNDECIDED, "apparently"
    return Verdict.PASSED, ""


def _judged(comparison: Comparison) -> Row:
    """The row of the measure that decides."""
    row: Row = comparison.pairs.iloc[0].to_dict()
    return row


def _guard(comparison: Comparison, name: str) -> Row:
    """A row of `Comparison.guards`."""
    row: Row = comparison.guards.set_index("measure").loc[name].to_dict()
    return row


def _named(comparison: Comparison) -> str:
    """The measure that decides, with its direction."""
    measure = comparison.measures[0]
    return with_direction(measure, comparison.higher_is_better[measure])


def _difference(row: Row) -> str:
    """The difference with its interval, with as many digits as show that it is not 0."""
    ends = EMPTY
    if not math.isnan(row["low"]):
        ends = f"[{significant(row['low'])}, {significant(row['high'])}]"
    sides = f"{row['system_a']} minus {row['system_b']}"
    return f"{sides} is {significant(row['difference'])} {ends}, {_differing(row)}"


def _differing(row: Row) -> str:
    """In how many sources the systems differ, and how many are needed if these are too few."""
    least = f" (significance needs {LEAST_GROUPS})" if row["units_differing"] < LEAST_GROUPS else ""
    return f"{row['units_differing']} of {counted(row['units'], 'source')} differ{least}"


def _counts(by_system: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in by_system.items())
