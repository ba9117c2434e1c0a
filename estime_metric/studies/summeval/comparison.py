"""Scores of files against ESTIME's: how much better or worse they agree with the experts."""

from __future__ import annotations

from collections.abc import Iterator

from estime_metric.meta.correlations import UndefinedCorrelationError
from estime_metric.meta.significance import bootstrap_difference, williams_test
from estime_metric.studies.shared.estime_paper import QUALITIES
from estime_metric.studies.shared.scoring import OWN, Measure
from estime_metric.studies.summeval.report import SummEvalScores, grid
from estime_metric.tables import Cell, Column, Section, Table, interval


def own_differences(scores: SummEvalScores, *, resamples: int = 1000, seed: int = 0) -> Table | None:
    """Each measure from a file less ESTIME's first row, Spearman's rho at the summary level.

    Both are taken over the documents in which both score every system.

    Args:
        scores: what was measured.
        resamples: resamples of the documents for the 95% intervals.
        seed: of them.

    Returns:
        A row for each measure, a difference, its interval and the p-value of Williams' test for each quality; ``None``
        where no file was read, or ESTIME not measured.
    """
    known = [one for one in scores.measures if one.main and one.column in scores.values]
    ours = next((one for one in known if one.layer is not None), None)
    own = [one for one in known if one.section == OWN]
    if ours is None or not own:
        return None
    columns = [Column("measure", text=True), Column("documents")]
    for quality in QUALITIES:
        columns += [Column("ρ more", group=quality), Column("95% interval", group=quality, text=True)]
        columns.append(Column("p", group=quality, decimals=4))
    rows = tuple(tuple(_row(scores, one, ours, resamples, seed)) for one in own)
    notes = (
        f"Positive: the file's measure agrees better than {ours.label}. Intervals: bootstrap over documents. p: the "
        "test of Williams, two-sided, which takes summaries as independent and is approximate for ρ.",
        *(note for said in scores.notes.values() for note in said),
    )
    title = f"Measures from files less {ours.label}: Spearman's ρ with the experts, summary level."
    return Table("own", title, tuple(columns), (Section("", rows),), notes)


def _row(scores: SummEvalScores, own: Measure, ours: Measure, resamples: int, seed: int) -> Iterator[Cell]:
    yield own.label
    for index, quality in enumerate(QUALITIES):
        first = grid(scores, own, quality, scores.values[ours.column])
        second = grid(scores, ours, quality, scores.values[own.column])
        if not index:
            yield len(first.documents)
        try:
            found = bootstrap_difference(
                first, second, level="summary", method="spearman", resample="documents", n=resamples, seed=seed
            )
            p_value = williams_test(first, second, level="summary", method="spearman").p_value
        except (UndefinedCorrelationError, ValueError):
            yield from (None, None, None)  # constant scores, or too few documents
            continue
        yield found.difference
        yield None if found.low is None or found.high is None else interval(found.low, found.high)
        yield p_value
