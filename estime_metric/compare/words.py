"""What a comparison says in sentences: the differences, the copying, and what limits the numbers."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from estime_metric._wording import counted
from estime_metric.compare.differences import PROPERTIES, Comparison
from estime_metric.measures import RECOMMENDED, measure_of
from estime_metric.show.tables import decimals_of, fixed
from estime_metric.table.intervals import FEW_SOURCES, RESAMPLES
from estime_metric.table.tests import LEVEL, SEED, SWAPS

_ALIKE = 1.05  # a smaller ratio would be printed as 1.0
LISTED = 15  # pairs of systems with sentences; further ones are counted

#: Of the significant differences of `inconsistency` between two of SummEval's 16 systems, over all
#: 100 documents, as `compare_scores` finds them: in how many people's mean judgement of consistency has
#: the same order, and how many there are, if the system with the lower value has more than `COPIES_MORE`
#: times the `copied_density` of the other, and if it does not. See docs/benchmarks.md.
COPIES_MORE = 2.0
AGREED_ABOVE, AGREED_BELOW = (62, 63), (17, 33)


def sentences(comparison: Comparison) -> list[list[str]]:
    """For each pair of systems, in the order of `Comparison.pairs`, what the first measure says, how
    long the runs are that the two copy, and how often people agreed with such a difference in the
    study; the latter two if they are known. For example:

    - pg has lower inconsistency than bart (0.0194 and 0.0629, p 0.0004).
    - pg copies runs 1.9 times as long: 27 and 14 words.
    - Such a difference agreed with people in 17 of 33 cases on SummEval (ratio of at most 2), about
      chance.
    """
    rows = comparison.pairs[comparison.pairs["measure"] == comparison.measures[0]]
    density = comparison.systems["copied_density"]
    return [
        _sentences(
            row,
            density[[row["system_a"], row["system_b"]]],
            higher=comparison.higher_is_better[row["measure"]],
        )
        for row in rows.to_dict("records")
    ]


def notes(comparison: Comparison) -> list[str]:
    """What readers of the numbers must know, each sentence once: the `sentences` on the first `LISTED`
    pairs of systems, why a further measure cannot compare two systems, how the numbers were computed and
    what limits them, and the signature.
    """
    said = sentences(comparison)
    agreements = dict.fromkeys(line for lines in said for line in lines[2:])
    pairs = comparison.pairs
    silent = pairs[(pairs["why_not"] != "") & (pairs["measure"] != comparison.measures[0])]
    reasons = [_not_compared(row) for row in silent.to_dict("records")]
    return [
        *_listed([" ".join(lines[:2]) for lines in said], "pairs of systems"),
        *agreements,
        *_listed(reasons, "such pairs"),
        _method(comparison),
        *_notes_on_sources(comparison),
        *(note for name in comparison.measures for note in _notes_on_measure(comparison, name)),
        *filter(None, [comparison.signature]),
    ]


def to_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One flat row per measure and pair of systems, for a file: the row of `Comparison.pairs`, what the
    systems ``a`` and ``b`` wrote, and the signature.
    """
    wrote = comparison.systems[["blank", *PROPERTIES]]
    table = comparison.pairs.join(wrote.add_suffix("_a"), on="system_a")
    table = table.join(wrote.add_suffix("_b"), on="system_b")
    return _records(table.assign(signature=comparison.signature))


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Everything, for one JSON object: the rows of `Comparison.systems` and of `Comparison.pairs`, how
    they were computed, and the notes.
    """
    return {
        "signature": comparison.signature,
        "examples": comparison.examples,
        "sources": comparison.sources,
        "matched_by": comparison.matched_by,
        "baseline": comparison.baseline,
        "swaps": SWAPS,
        "seed": SEED,
        "systems": _records(comparison.systems.rename_axis("system").reset_index()),
        "pairs": _records(comparison.pairs),
        "notes": notes(comparison),
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows with NaN as nothing: null in JSON, an empty cell in CSV."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }
        for row in table.to_dict("records")
    ]


def _listed(lines: list[str], things: str) -> list[str]:
    """The first `LISTED` lines, and how many more there are."""
    more = len(lines) - LISTED
    return lines if more <= 0 else [*lines[:LISTED], f"{more} more {things} are not listed."]


def _sentences(row: dict[str, Any], density: pd.Series, *, higher: bool) -> list[str]:
    """The sentences on one row of `Comparison.pairs`; ``density`` is `copied_density` of its two
    systems, and ``higher`` whether higher values are better.
    """
    lines = [_difference(row, higher=higher)]
    if density.notna().all():
        lines.append(_copying(density))
        if row["better"] is not None and measure_of(row["measure"]) == RECOMMENDED:
            lines.append(_agreement(density, row["better"]))
    return lines


def _difference(row: dict[str, Any], *, higher: bool) -> str:
    """What one measure says of two systems."""
    measure, first, second = row["measure"], row["system_a"], row["system_b"]
    if row["why_not"]:
        return _not_compared(row)
    is_first = (row["difference"] > 0) == higher
    leader = first if is_first else second
    means = [row["mean_a"], row["mean_b"]] if is_first else [row["mean_b"], row["mean_a"]]
    shown = " and ".join(_unequal(measure, means))
    other = second if is_first else first
    comparative = "higher" if higher else "lower"
    if row["units"] == 1 and row["difference"]:
        return (
            f"{leader} has {comparative} {measure} than {other} ({shown}); one source cannot show "
            "whether the difference is more than chance."
        )
    if row["better"] is not None:
        return f"{leader} has {comparative} {measure} than {other} ({shown}, {_p(row['p_holm'])})."
    includes = ", but the 95% interval includes 0" if row["p_holm"] < LEVEL else ""
    return (
        f"{first} and {second} do not differ significantly in {measure} "
        f"({' and '.join(_unequal(measure, [row['mean_a'], row['mean_b']]))}, {_p(row['p_holm'])}"
        f"{includes})."
    )


def _not_compared(row: dict[str, Any]) -> str:
    return (
        f"{row['measure']} cannot compare {row['system_a']} and {row['system_b']}, because "
        f"{row['why_not']}."
    )


def _copying(density: pd.Series) -> str:
    """Which of two systems copies longer runs of words."""
    longer, shorter = density.sort_values(ascending=False, kind="stable").index
    more, less = density[longer], density[shorter]
    words = f"{_words(more)} and {_words(less)} words"
    if more < _ALIKE * less or not less:
        return f"{longer} and {shorter} copy runs of {words}."
    return f"{longer} copies runs {more / less:.1f} times as long: {words}."


def _words(density: float) -> str:
    return f"{density:.0f}" if density >= 10 or not density else f"{density:.1f}"


def _agreement(density: pd.Series, better: str) -> str:
    """How often people agreed with such a difference."""
    (other,) = density.index.drop(better)
    if density[better] > COPIES_MORE * density[other]:
        ratio, (agreed, cases), verdict = "above", AGREED_ABOVE, ""
    else:
        ratio, (agreed, cases), verdict = "of at most", AGREED_BELOW, ", about chance"
    return (
        f"Such a difference agreed with people in {agreed} of {cases} cases on SummEval (ratio "
        f"{ratio} {COPIES_MORE:g}){verdict}."
    )


def _unequal(measure: str, means: list[float]) -> list[str]:
    """Means as they are printed elsewhere, with more digits if they would look equal."""
    least = decimals_of(measure)
    for decimals in range(least, 7):
        shown = [fixed(mean, decimals) for mean in means]
        if len(set(shown)) > 1:
            return shown
    return [fixed(mean, least) for mean in means]


def _p(p_value: float) -> str:
    if math.isnan(p_value):
        return "p undefined"
    return "p < 0.0001" if p_value < 1e-4 else f"p {p_value:.2g}"


def _method(comparison: Comparison) -> str:
    pairs = len(comparison.pairs) // len(comparison.measures)
    corrected = f", corrected by Holm's method for {pairs} pairs of systems" if pairs > 1 else ""
    return (
        f"{counted(comparison.examples, 'example')}, matched by column {comparison.matched_by!r}. 95% intervals are from a bootstrap by source "
        f"({RESAMPLES} resamples); p-values are from approximate randomization ({SWAPS} swaps)"
        f"{corrected}."
    )


def _notes_on_sources(comparison: Comparison) -> list[str]:
    """How many independent examples there are, and how far that is known."""
    repeats = comparison.sources is not None and comparison.sources < comparison.examples
    count = comparison.examples if comparison.sources is None else comparison.sources
    things = "different sources" if repeats else "examples"
    lines = []
    if count == 1:
        which = "All examples have the same source" if repeats else "There is only one example"
        lines.append(f"{which}, so there are no intervals, and no difference can be significant.")
    elif count < FEW_SOURCES:
        lines.append(
            f"There are only {count} {things}. Only large differences can be significant, and the "
            "bootstrap intervals are too narrow."
        )
    if repeats and count > 1:
        lines.append(
            f"The {comparison.examples} examples have {count} different sources. Summaries of one source "
            "are not independent, so the tests draw and swap whole sources."
        )
    if comparison.sources is None and comparison.examples > 1:
        lines.append(
            "The sources are not known, so each example is treated as independent. To be safe, name the "
            "column that identifies the source with `source_column`."
        )
    return lines


def _notes_on_measure(comparison: Comparison, measure: str) -> list[str]:
    """What limits the tests of one measure."""
    rows = comparison.pairs.query("measure == @measure")
    lines = []
    least = math.ceil(1 - math.log2(LEVEL))  # of k units that differ, the least p is 2 / 2 ** k
    has_few = rows["units_differing"].between(1, least - 1) & (rows["units"] > 1)
    repeats = comparison.sources is not None and comparison.sources < comparison.examples
    units = "sources" if repeats else "examples"
    if has_few.any() and len(rows) == 1:
        differing, number = rows["units_differing"].iloc[0], rows["units"].iloc[0]
        lines.append(
            f"{measure}: only {differing} of {number} {units} differ; significance needs at least "
            f"{least}."
        )
    elif has_few.any():
        lines.append(
            f"{measure}: {has_few.sum()} of {len(rows)} pairs of systems differ in fewer than {least} "
            f"{units}, which is too few for significance."
        )
    if left_out := rows["left_out"].iloc[0]:
        lines.append(
            f"{measure}: {left_out} of {comparison.examples} examples are excluded because at least one "
            "system has no value."
        )
    return lines
