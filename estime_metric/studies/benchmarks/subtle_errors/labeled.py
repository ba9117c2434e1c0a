"""Each summary clean and with subtle errors as labeled rows, for `evaluate` and others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from estime_metric.studies.benchmarks.subtle_errors.generator import Corrupted, SubtleError

#: A row as `labeled_rows` makes it.
LabeledRow = dict[str, Any]


def labeled_rows(
    sources: Sequence[str],
    corrupted: Sequence[Corrupted],
    n_errors: Sequence[int],
    names: Sequence[str],
) -> list[LabeledRow]:
    """One row for each clean summary and one for each number of errors in it.

    Args:
        sources, corrupted: one source for each summary, and what `SubtleErrors` made of the
            summaries.
        n_errors: numbers of errors; a smaller number uses a subset of the errors of a larger one.
        names: one for each pair.

    Returns:
        Pair after pair, the clean row first. ``label`` is 1 for clean and 0 for corrupted,
        ``n_errors`` the number of errors in the summary, ``n_missing`` the number of missing ones;
        ``errors`` has a row for each: the fields of `SubtleError`, with the ends of its spans. A
        summary into which no error could be put has only its clean row.
    """
    rows = []
    for source, most, name in zip(sources, corrupted, names, strict=True):
        for number in (0, *n_errors):
            version = most.first(number)
            if number == 0 or version.errors:
                rows.append(
                    {
                        "id": f"{name}-{number}",
                        "pair": name,
                        "source": source,
                        "summary": version.text,
                        "label": 0 if version.errors else 1,
                        "n_errors": len(version.errors),
                        "n_missing": version.n_missing,
                        "errors": [_error_row(error) for error in version.errors],
                    }
                )
    return rows


def _error_row(error: SubtleError) -> dict[str, Any]:
    fields = asdict(error)
    (start, end), (clean_start, clean_end) = fields.pop("span"), fields.pop("clean_span")
    ends = {"start": start, "end": end, "clean_start": clean_start, "clean_end": clean_end}
    return ends | fields
