"""What a comparison says besides its numbers, and its rows for a file."""

from __future__ import annotations

from typing import Any

import pandas as pd

from estime_metric._messages import counted
from estime_metric.compare.differences import Comparison
from estime_metric.compare.examples import PROPERTIES
from estime_metric.measures import RECOMMENDED, measure_of
from estime_metric.table.intervals import FEW_SOURCES, RESAMPLES
from estime_metric.table.significance import LEAST_GROUPS, LEVEL, SEED, SWAPS

LISTED = 15  # pairs of systems that are listed for a measure; further ones are counted

#: Of the significant differences of `inconsistency` between two of SummEval's 16 systems, over all
#: 100 documents, as `compare_scores` finds them: in how many people's mean judgement of consistency has
#: the same order, and how many there are, if the system with the lower value has more than twice the
#: `copied_density` of the other, and if it does not. See docs/benchmarks.md#systems.
AGREED_ABOVE, AGREED_BELOW = (62, 63), (17, 33)


def notes(comparison: Comparison) -> list[str]:
    """What readers of the numbers must know, each sentence once: why a measure cannot compare two
    systems, how often people agreed with such differences in a study, how the numbers were computed and
    what limits them, and the signature.
    """
    pairs = [row for rows in comparison.differences.values() for row in rows]
    reasons = [
        f"{row.measure} cannot compare {row.system_a} and {row.system_b}, because {row.why_not}."
        for row in pairs
        if row.why_not
    ]
    if len(reasons) > LISTED:
        reasons[LISTED:] = [f"{len(reasons) - LISTED} more such pairs are not listed."]
    is_judged = any(row.better_score and measure_of(row.measure) == RECOMMENDED for row in pairs)
    return [
        *reasons,
        *([_agreement()] if is_judged else []),
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
    """Everything, for one JSON object: the rows of `Comparison.systems` and `Comparison.means`, those of
    `to_rows`, how they were computed, and the notes.
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
        "means": _records(comparison.means),
        "pairs": to_rows(comparison),
        "notes": notes(comparison),
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows with NaN as nothing: null in JSON, an empty cell in CSV."""
    rows: list[dict[str, Any]] = table.astype(object).where(table.notna(), None).to_dict("records")
    return rows


def _agreement() -> str:
    """How often people agreed with significant differences of `inconsistency`."""
    (above, cases_above), (below, cases_below) = AGREED_ABOVE, AGREED_BELOW
    return (
        f"On SummEval, people agreed with {above} of {cases_above} significant differences of "
        f"{RECOMMENDED} if the system with the lower value copied runs more than twice as long, and with "
        f"{below} of {cases_below} otherwise."
    )


def _method(comparison: Comparison) -> str:
    pairs = len(comparison.compared)
    corrected = f", corrected by Holm's method for {pairs} pairs of systems" if pairs > 1 else ""
    return (
        f"{counted(comparison.examples, 'example')}, matched by column {comparison.matched_by!r}. A "
        f"difference is significant if p is below {LEVEL:g} and its 95% interval excludes 0. The intervals "
        f"are from a bootstrap by source ({RESAMPLES} resamples), p-values from approximate randomization "
        f"({SWAPS} swaps){corrected}."
    )


def _notes_on_sources(comparison: Comparison) -> list[str]:
    """How many independent examples there are, and how far that is known."""
    count = comparison.independent
    repeats = count < comparison.examples
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
    rows = comparison.differences[measure]
    lines = []
    if comparison.higher_is_better[measure] is None:
        advice = "" if comparison.definitions[measure] else " Name it with `higher` or `lower`."
        lines.append(f"{measure} has no direction, so nothing is called better in it.{advice}")
    few = [row for row in rows if 0 < row.units_differing < LEAST_GROUPS and row.units > 1]
    units = "sources" if comparison.independent < comparison.examples else "examples"
    if few and len(rows) == 1:
        lines.append(
            f"{measure}: only {few[0].units_differing} of {few[0].units} {units} differ; significance "
            f"needs at least {LEAST_GROUPS}."
        )
    elif few:
        lines.append(
            f"{measure}: {len(few)} of {len(rows)} pairs of systems differ in fewer than "
            f"{LEAST_GROUPS} {units}, which is too few for significance."
        )
    if left_out := rows[0].left_out:
        lines.append(
            f"{measure}: {left_out} of {comparison.examples} examples are excluded because at least one "
            "system has no value."
        )
    return lines
