"""Each summary clean and with subtle errors as labeled rows, for `evaluate` and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from estime_metric.checks import check_texts
from estime_metric.studies.benchmarks.shared.hub import import_datasets
from estime_metric.studies.benchmarks.subtle_errors.generator import Corrupted, SubtleError

if TYPE_CHECKING:
    from datasets import Dataset

#: A row as `labeled_rows` makes it.
LabeledRow = dict[str, Any]


def labeled_rows(
    sources: Sequence[str],
    corrupted: Sequence[Corrupted],
    n_errors: Sequence[int],
    ids: Sequence[str] | None = None,
) -> list[LabeledRow]:
    """One row for each clean summary and one for each number of errors in it.

    Args:
        sources, corrupted: one source for each summary, and what `SubtleErrors` made of the
            summaries.
        n_errors: numbers of errors; a smaller number uses a subset of the errors of a larger one.
        ids: a name for each pair; ``None`` counts from 0.

    Returns:
        Pair after pair, the clean row first. ``label`` is 1 for clean and 0 for corrupted,
        ``n_errors`` the number of errors in the summary, ``n_missing`` the number of missing ones;
        ``errors`` has a row for each: the fields of `SubtleError`, with the ends of its spans. A
        summary into which no error could be put has only its clean row.
    """
    texts = check_texts("sources", sources)
    names = [*map(str, range(len(texts)))] if ids is None else check_texts("ids", ids)
    if not len(texts) == len(corrupted) == len(names):
        raise ValueError(
            f"Expected arguments `sources`, `corrupted` and `ids` to have the same length, "
            f"but got {len(texts)}, {len(corrupted)} and {len(names)}."
        )
    rows = []
    for source, most, name in zip(texts, corrupted, names, strict=True):
        for number in (0, *n_errors):
            version = most.first(number)
            if number == 0 or version.errors:
                rows.append(_row(name, source, version, number))
    return rows


def to_dataset(rows: Sequence[LabeledRow], description: str = "") -> Dataset:
    """The rows of `labeled_rows` as a ``datasets.Dataset``.

    ``description`` is what the dataset says of itself, for example `SubtleErrors.signature`. Raises
    ImportError if ``datasets`` is not installed.
    """
    datasets = import_datasets()
    info = datasets.DatasetInfo(description=description)
    dataset: Dataset = datasets.Dataset.from_list(list(rows), info=info)
    return dataset


def _row(name: str, source: str, version: Corrupted, requested: int) -> LabeledRow:
    return {
        "id": f"{name}-{requested}",
        "pair": name,
        "source": source,
        "summary": version.text,
        "label": 0 if version.errors else 1,
        "n_errors": len(version.errors),
        "n_missing": version.n_missing,
        "errors": [_error_row(error) for error in version.errors],
    }


def _error_row(error: SubtleError) -> dict[str, Any]:
    start, end = error.span
    clean_start, clean_end = error.clean_span
    return {
        "start": start,
        "end": end,
        "clean_start": clean_start,
        "clean_end": clean_end,
        "original": error.original,
        "replacement": error.replacement,
        "rank": error.rank,
        "probability": error.probability,
        "step": error.step,
    }
