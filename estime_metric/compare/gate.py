"""Whether a new system may take the place of another: the gate of ``estime compare --fail-if-worse``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import IntEnum

import pandas as pd

from estime_metric._messages import counted, shortened
from estime_metric.compare.differences import Comparison
from estime_metric.compare.examples import Examples
from estime_metric.compare.failures import KINDS, SHORT
from estime_metric.compare.pairwise import Difference, why_not
from estime_metric.compare.request import Gate
from estime_metric.measures import RECOMMENDED, measure_of
from estime_metric.show.cells import EMPTY, significant, with_direction
from estime_metric.table.significance import LEAST_GROUPS, is_difference
from estime_metric.wording.words import lower_words

LEAST_SOURCES = 10  # with fewer, a gate would hardly ever see a difference

#: A system copies more if its mean `copied_density` is significantly greater, and more than this many
#: times the other's. See docs/command-line.md#a-gate for how often that stops a better system.
MORE_COPYING = 1.25

#: A difference of `inconsistency` that nobody would act on. Of 132 significant differences of real
#: systems, five were not greater; people called all of these equal.
LEAST_DIFFERENCE = 0.005

SIGNIFICANTLY = "significantly"


class Verdict(IntEnum):
    """What the gate says; the values are exit statuses, and 2 is left for what is refused. Of several,
    the first in this order applies.
    """

    WORSE = 3
    COPIES = 4
    UNDECIDED = 5
    INCOMPLETE = 1
    PASSED = 0


#: Each of `Comparison.guards`: the verdict if there is more of it, and the sentence.
MORE = {
    "blank": (Verdict.WORSE, "has {how} more blank summaries than {base}: {b:.1%} and {a:.1%}"),
    "copied_density": (
        Verdict.COPIES,
        "copies {how} more than {base}: copied_density {b:.1f} and {a:.1f}; `allow_copying` permits it",
    ),
    "undefined": (
        Verdict.UNDECIDED,
        "has {how} more undefined values than {base}: {b:.1%} and {a:.1%}",
    ),
}

#: What speaks against a system, or against a verdict, with the verdict that follows from it.
Finding = tuple[Verdict, str]


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
    known = [column for column in examples.values if column[0] == measure]
    has_values = examples.values[known].notna().all(axis=1)
    sources = len(set(pd.Series(examples.units)[has_values.array]))
    if sources < LEAST_SOURCES:
        raise ValueError(
            f"Expected at least {LEAST_SOURCES} sources with values of {measure} to decide whether a "
            f"system is worse, but got {sources}."
        )
    for name in ("blank",) if gate.allow_copying else ("copied_density", "blank"):
        known = examples.described(name).notna().any()
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
        tolerance, allow_shorter, allow_copying, range: see `Gate`.

    Raises:
        ValueError: as `check_gate`; or an argument is invalid.
    """
    gate = Gate(
        tolerance=tolerance, allow_shorter=allow_shorter, allow_copying=allow_copying, range=range
    )
    check_gate(comparison, gate)
    findings = [
        *_worse_scores(comparison, gate),
        *_more(comparison, gate),
        *_failed_rows(comparison, gate),
        *_gaps(comparison),
    ]
    findings.sort(key=lambda finding: list(Verdict).index(finding[0]))
    return findings[0][0], [sentence for _, sentence in findings]


def _worse_scores(comparison: Comparison, gate: Gate) -> Iterator[Finding]:
    """Whether the measure that decides is worse, or cannot compare the two."""
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    (row,) = comparison.differences[measure]
    if reason := why_not(comparison, comparison.systems, row, shorter=new):
        yield Verdict.UNDECIDED, f"{measure} cannot compare {base} and {new}, because {reason}."
        return
    is_higher_better = bool(comparison.higher_is_better[measure])
    named = with_direction(measure, is_higher_better)
    if row.ties == comparison.examples:
        yield (
            Verdict.PASSED,
            f"{new} and {base} are equal in all {comparison.examples} examples in {named}.",
        )
        return
    verdict, how = _worsening(row, Verdict.WORSE, is_higher_better, gate.tolerance)
    size = abs(row.difference)
    judged = f"is {how or 'not significantly'} worse than {base}"
    if how and measure_of(measure) == RECOMMENDED and size <= LEAST_DIFFERENCE:
        verdict = Verdict.PASSED
        judged = f"is worse than {base} by {significant(size)}, less than {LEAST_DIFFERENCE},"
    elif gate.tolerance:
        judged = f"is {how or 'not shown to be'} worse than {base} by more than {gate.tolerance:g}"
    yield verdict, f"{new} {judged} in {named}: {_difference(row)}."


def rows_of(
    examples: Examples, names: Sequence[str], measure: str, gate: Gate
) -> list[pd.DataFrame]:
    """The tables of two systems, the base and the new one, for `KINDS`: those of `Examples.tables` with ``unit``;
    ``text``, the words of a summary that is not blank; ``tokens``, the number of words if both texts are
    known; ``value`` of the measure that decides; ``is_outside``, whether it is outside the stated range; and
    ``merit``, higher for a better value of a column of others without a stated range.
    """
    sign = 1.0 if examples.higher_is_better[measure] else -1.0
    if examples.definitions[measure] or gate.range:
        sign = math.nan
    least, greatest = gate.range or (-math.inf, math.inf)
    has_texts = examples.described("summary").notna().all(axis=1)
    tables = []
    for name in names:
        table, value = examples.tables[name], examples.values[measure, name]
        words = table["summary"][has_texts].map(lower_words)
        tables.append(
            table.assign(
                unit=examples.units,
                text=words[words.astype(bool)].map(" ".join),
                tokens=words.map(len).reindex(table.index).fillna(table["tokens"]),
                value=value,
                is_outside=(value < least) | (value > greatest),
                merit=sign * value,
            )
        )
    return tables


def _failed_rows(comparison: Comparison, gate: Gate) -> Iterator[Finding]:
    """Which kinds of failure there are, and which the gate cannot see without texts."""
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    of_base, of_new = rows_of(comparison, (base, new), measure, gate)
    is_known = (of_base.notna() & of_new.notna()).any()
    unseen = []
    for kind in KINDS:
        if kind is SHORT and gate.allow_shorter:
            continue
        if kind.reads and not is_known[kind.reads]:
            unseen.append(kind.name)
        elif (failed := kind.failed_rows(of_base, of_new)) is not None:
            first = of_new[failed["new"]].nsmallest(1, "line").iloc[0]
            cell = (kind.reads and first["summary"]) or first[kind.reads or "value"]
            shown = repr(shortened(cell)) if isinstance(cell, str) else significant(cell)
            yield (
                Verdict.UNDECIDED,
                f"{failed['new'].sum()} of {len(of_new)} summaries of {new} {kind.name.format(measure=measure)}, "
                f"and {failed['base'].sum()} of {base}; the first is line {first['line']} ({shown}).{kind.advice}",
            )
    if unseen:
        yield (
            Verdict.PASSED,
            f"The texts of {base} and {new} are not both known, so the gate does not see whether summaries "
            f"{' or '.join(unseen)}.",
        )


def _more(comparison: Comparison, gate: Gate) -> Iterator[Finding]:
    """Whether there is more of what `MORE` names."""
    base, new = comparison.compared[0]
    for row in comparison.guards:
        status, sentence = MORE[row.measure]
        verdict, how = _worsening(row, status)
        is_enough = {
            "blank": True,
            "copied_density": not gate.allow_copying and row.mean_b > MORE_COPYING * row.mean_a,
            "undefined": how == SIGNIFICANTLY,
        }
        if how and is_enough[row.measure]:
            more = sentence.format(how=how, base=base, a=row.mean_a, b=row.mean_b)
            yield verdict, f"{new} {more} ({_differing(row)})."


def _gaps(comparison: Comparison) -> Iterator[Finding]:
    """What is missing: values, of which some also need both texts, or rows."""
    measure = comparison.measures[0]
    definition = comparison.definitions[measure]
    values = {name: comparison.described(name) for name in ("copied_density", "blank")}
    if not (definition and definition.can_be_undefined):
        values[measure] = comparison.values[measure]
    missing = {f"Values of {name} are missing": each.isna().sum() for name, each in values.items()}
    missing["Rows were skipped or have no counterpart"] = pd.Series(comparison.skipped)
    for problem, counts in missing.items():
        if counts.any():
            named = ", ".join(f"{name} {count}" for name, count in counts.items())
            yield Verdict.INCOMPLETE, f"{problem}: {named}."


def _worsening(
    row: Difference,
    verdict: Verdict,
    is_higher_better: bool = False,
    tolerance: float = 0.0,
) -> tuple[Verdict, str]:
    """What follows if the second system is worse by more than a tolerance, and how it is so: significantly,
    or apparently if the interval says so but too few sources differ for significance. Otherwise the
    text is empty.
    """
    is_against = row.low > tolerance if is_higher_better else row.high < -tolerance
    if is_against and is_difference(row.low, row.high, row.p_holm):
        return verdict, SIGNIFICANTLY
    if is_against and row.units_differing < LEAST_GROUPS:
        return Verdict.UNDECIDED, "apparently"
    return Verdict.PASSED, ""


def _difference(row: Difference) -> str:
    """The difference with its interval, with as many digits as show that it is not 0."""
    ends = EMPTY
    if not math.isnan(row.low):
        ends = f"[{significant(row.low)}, {significant(row.high)}]"
    sides = f"{row.system_a} minus {row.system_b}"
    return f"{sides} is {significant(row.difference)} {ends}, {_differing(row)}"


def _differing(row: Difference) -> str:
    """In how many sources the systems differ, and how many are needed if these are too few."""
    least = f" (significance needs {LEAST_GROUPS})" if row.units_differing < LEAST_GROUPS else ""
    return f"{row.units_differing} of {counted(row.units, 'source')} differ{least}"
