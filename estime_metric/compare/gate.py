"""Whether a new system may take the place of another: the gate of ``estime compare --fail-if-worse``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd

from estime_metric._messages import counted, shortened
from estime_metric.checks import has_words
from estime_metric.compare.differences import LAST_DIGIT, Comparison, differences
from estime_metric.compare.examples import Examples
from estime_metric.compare.request import OF_TEXTS
from estime_metric.show.cells import EMPTY, significant, with_direction
from estime_metric.table.significance import LEAST_GROUPS
from estime_metric.wording.words import lower_words

LEAST_SOURCES = 10  # with fewer, a gate would hardly ever see a difference

#: A system copies more if its mean `copied_density` is significantly greater, and more than this many
#: times the other's: copying lowers `inconsistency`, whether what surrounds it is right or wrong.
MORE_COPYING = 1.1


SIGNIFICANTLY = "significantly"


#: A system whose summaries have fewer than this fraction of the words of the other's is not passed: what
#: is cut off cannot be wrong. Of 151 pairs of real systems, the lowest fraction was .57.
LEAST_LENGTH = 0.5

#: If more than this fraction of a system's summaries are one text, such as "I cannot answer.", and not of the
#: other's, it is not passed.
ONE_TEXT = 0.5

#: A column of others is on another scale if its values lie outside the base's by more than this many times
#: the width of their range.
OTHER_SCALE = 10


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
            f"none. {'Choose another one.' if examples.definitions[measure] else advice}"
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


def judge(
    comparison: Comparison, *, tolerance: float = 0.0, allow_shorter: bool = False
) -> tuple[Verdict, list[str]]:
    """The verdict on the second of two systems, the one that is not the baseline, by the first measure;
    and a sentence for each reason, those of the verdict first, and then what the gate could not see.

    Args:
        comparison: two systems.
        tolerance: how much worse the mean of the measure may be, 0 or more: the system is worse only
            if the whole 95% interval lies beyond it. Blank summaries and copying have no tolerance.
        allow_shorter: whether summaries with less than half of the words may pass.

    Raises:
        ValueError: as `check_gate`; or the tolerance is negative or not finite.
    """
    check_gate(comparison)
    if not 0 <= tolerance < math.inf:
        raise ValueError(f"Expected argument `tolerance` to be 0 or more, but got {tolerance!r}.")
    judged, measure = comparison.pairs.iloc[0].to_dict(), comparison.measures[0]
    named = with_direction(measure, comparison.higher_is_better[measure])
    findings = [
        *_worse_scores(comparison, judged, named, tolerance),
        *_other_scale(comparison),
        *_more_blank(comparison),
        *_more_copying(comparison),
        *_other_lengths(comparison, allow_shorter),
        *_gaps(comparison),
    ]
    findings.sort(key=lambda finding: list(Verdict).index(finding[0]))
    reasons = [sentence for _, sentence in findings]
    verdict = findings[0][0] if findings else Verdict.PASSED
    if verdict is Verdict.PASSED:
        reasons = [_passed(comparison, judged, named), *reasons]
    return verdict, reasons


def _worse_scores(
    comparison: Comparison, judged: Row, named: str, tolerance: float
) -> Iterator[Finding]:
    """Whether the measure that decides is worse, or cannot compare the two."""
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    is_higher_better = bool(comparison.higher_is_better[measure])
    verdict, how = _worsening(judged, Verdict.WORSE, is_higher_better, tolerance)
    if judged["why_not"]:
        because = f"{measure} cannot compare {base} and {new}, because {judged['why_not']}."
        yield Verdict.UNDECIDED, because
    elif how:
        beyond = f" by more than {tolerance:g}" if tolerance else ""
        yield (
            verdict,
            f"{new} is {how} worse than {base} in {named}{beyond}: {_difference(judged)}.",
        )


def _other_scale(comparison: Comparison) -> Iterator[Finding]:
    """Whether the values of a column of others lie where the base's do not: on another scale, or one value
    in many rows, such as the -1 of an outage.
    """
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    if comparison.definitions[measure]:
        return
    values = comparison.values[measure]
    low, high = values[base].min(), values[base].max()
    width = (high - low) or 1.0
    counts = values[new].value_counts()
    outside = pd.Series(np.maximum(counts.index - high, low - counts.index), counts.index)
    repeated = outside[counts > 1]
    of_base = f"the values of {base}, which are {significant(low)} to {significant(high)}"
    if outside.max() > OTHER_SCALE * width:
        farthest = significant(outside.idxmax())
        yield (
            Verdict.UNDECIDED,
            f"{measure} of {new} may be on another scale: {farthest} is far outside {of_base}.",
        )
    elif repeated.max() > width:
        value = repeated.idxmax()
        yield (
            Verdict.UNDECIDED,
            f"{measure} of {new} is {significant(value)} in {counts[value]} rows, outside {of_base}.",
        )


def _more_blank(comparison: Comparison) -> Iterator[Finding]:
    base, new = comparison.compared[0]
    blank = _compared(comparison, comparison.properties["blank"])
    verdict, how = _worsening(blank, Verdict.WORSE)
    if how:
        yield verdict, f"{new} has {how} more blank summaries than {base}: {_difference(blank)}."
    if blank["left_out"]:
        known_of = f"{blank['examples']} of {comparison.examples} examples"
        yield Verdict.INCOMPLETE, f"Whether summaries are blank is known of {known_of}."


def _more_copying(comparison: Comparison) -> Iterator[Finding]:
    base, new = comparison.compared[0]
    copied = _compared(comparison, comparison.properties["copied_density"])
    verdict, how = _worsening(copied, Verdict.COPIES)
    if how and copied["mean_b"] > MORE_COPYING * copied["mean_a"]:
        densities = f"copied_density {copied['mean_b']:.1f} and {copied['mean_a']:.1f}"
        yield verdict, f"{new} copies {how} more than {base}: {densities}, {_differing(copied)}."
    if copied["left_out"]:
        judged_on = f"{copied['examples']} of {comparison.examples} examples"
        yield Verdict.INCOMPLETE, f"Copying is judged on {judged_on}: the others lack a text."


def _other_lengths(comparison: Comparison, allow_shorter: bool) -> Iterator[Finding]:
    """Whether the summaries are much shorter than the base's, one text, or repetitions."""
    base, new = comparison.compared[0]
    texts, unit = comparison.summaries.dropna(), "words"
    lengths = texts.map(lambda text: len(lower_words(text)))
    if texts.empty:
        unit, lengths = "tokens", comparison.properties["tokens"].dropna()
        unseen = "their lengths, and " if lengths.empty else ""
        yield (
            Verdict.PASSED,
            f"The texts of {base} and {new} are not both there, so the gate does not see {unseen}whether one text is "
            "repeated.",
        )
    means = lengths.mean()
    if means[new] < LEAST_LENGTH * means[base] and not allow_shorter:
        yield (
            Verdict.UNDECIDED,
            f"{new} has {means[new]:.1f} {unit} per summary and {base} {means[base]:.1f}: what is left out cannot be "
            "wrong. Pass `allow_shorter` if it may be so short.",
        )
    written = texts[texts.map(has_words)].map(
        lambda text: " ".join(text.split()), na_action="ignore"
    )
    if _are_mostly(new, base, written.apply(_share_of_one_text)):
        text = written[new].mode()[0]
        yield Verdict.UNDECIDED, f"Most summaries of {new} are one text: {shortened(text)!r}."
    if _are_mostly(new, base, written.map(_is_repetition, na_action="ignore").mean()):
        yield Verdict.PASSED, f"Most summaries of {new} consist of one text several times."


def _are_mostly(new: str, base: str, shares: pd.Series) -> bool:
    """Whether more than `ONE_TEXT` of the summaries of a system, and not of the base, are so."""
    return bool(shares[new] > ONE_TEXT and not shares[base] > ONE_TEXT)


def _share_of_one_text(texts: pd.Series) -> float:
    """The share of the most frequent text, NaN if there is none."""
    return float(texts.value_counts(normalize=True).max())


def _is_repetition(text: str) -> bool:
    """Whether a text is a shorter one twice or more: then it is found within its double."""
    text += " "
    return (text + text).find(text, 1) < len(text)


def _gaps(comparison: Comparison) -> Iterator[Finding]:
    """What is missing: values of the measure that decides, or rows."""
    (base, new), measure = comparison.compared[0], comparison.measures[0]
    is_undefined = comparison.values[measure].isna()
    counts = _counts(is_undefined.sum().to_dict())
    verdict, how = _worsening(_compared(comparison, is_undefined * 1.0), Verdict.UNDECIDED)
    if how == SIGNIFICANTLY:
        yield verdict, f"{new} has {how} more undefined values of {measure} than {base}: {counts}."
    definition = comparison.definitions[measure]
    if is_undefined.any(axis=None) and not (definition and definition.can_be_undefined):
        yield Verdict.INCOMPLETE, f"Values of {measure} are missing: {counts}."
    if any(comparison.skipped.values()):
        skipped = _counts(comparison.skipped)
        yield Verdict.INCOMPLETE, f"Rows were skipped or have no counterpart: {skipped}."


def _passed(comparison: Comparison, judged: Row, named: str) -> str:
    base, new = comparison.compared[0]
    if judged["ties"] == comparison.examples:
        return f"{new} and {base} are equal in all {comparison.examples} examples in {named}."
    return f"{new} is not significantly worse than {base} in {named}: {_difference(judged)}."


def _compared(comparison: Comparison, scores: pd.DataFrame) -> Row:
    """The same as a row of `Comparison.pairs` of a property, of which lower values are better."""
    _, (row,) = differences(comparison, scores, is_higher_better=False, rounding=LAST_DIGIT)
    return row


def _worsening(
    row: Row,
    verdict: Verdict,
    is_higher_better: bool = False,
    tolerance: float = 0.0,
) -> tuple[Verdict, str]:
    """What follows if the second system is worse by more than a tolerance, and how it is so: significantly,
    or apparently if the interval says so but too few sources differ for significance. Otherwise the
    text is empty.
    """
    is_against = row["low"] > tolerance if is_higher_better else row["high"] < -tolerance
    if is_against and row["better"] == row["system_a"]:
        return verdict, SIGNIFICANTLY
    if is_against and row["units_differing"] < LEAST_GROUPS:
        return Verdict.UNDECIDED, "apparently"
    return Verdict.PASSED, ""


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
