"""Rows or results of several systems -> their comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

from estime_metric import files
from estime_metric.comparison.rows import (
    Joined,
    ScoredRow,
    join_rows,
    one_signature,
    shortened,
)
from estime_metric.comparison.verdicts import BESIDE, Comparison, Pair, System, higher_is_better
from estime_metric.measures import RECOMMENDED, measure_of, reported_name
from estime_metric.stats.paired import compare_each
from estime_metric.validation import check_choice

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

DEFAULT_MEASURES = (
    RECOMMENDED,
    "alarms",
    "alarm_rate",
)  # what is compared by default

#: Scores have six decimals. Two scores of one text that was scored in different batches can be
#: rounded to neighbors, which count as equal; 1.5 instead of 1, since these are not exact either.
_LAST_DIGIT = 1.5e-6


def compare_rows(
    *sides: Sequence[ScoredRow],
    names: Sequence[str] | None = None,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    id_column: str | None = None,
    source_column: str = "source",
    n: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compares two or more systems by their scored rows, on the examples that all of them have.

    P-values of one measure are corrected with Holm's method for the number of comparisons. If a
    cell is empty or NaN, the example is excluded for that measure. Scores are rounded to six
    decimals, as in files, and scores that differ by no more than the last digit are equal, because
    rounding can change it.

    Summaries of one source are not independent. If sources repeat, the bootstrap therefore draws
    whole sources, and approximate randomization swaps the systems on whole sources. If the rows
    have no column that identifies the source, each example is treated as independent, and
    `Comparison.notes` says so.

    Args:
        sides: the rows of each system as ``estime score -o`` writes them, with the signature, in
            any order.
        names: the names of the systems (default: A, B, C, ...). If there are two systems and no
            baseline, they are always called A and B in the result.
        baseline: name of the system with which each other one is compared (default: every two are
            compared).
        measures: name or names of measures, of all layers that there are (default:
            `DEFAULT_MEASURES`).
        id_column, source_column: as for `join_rows`.
        n, confidence, seed: number of resamples and of random swaps, fraction of the resamples
            within an interval, seed.

    Raises:
        ValueError: there are fewer than two systems, a name occurs twice, the baseline is not one of
            the systems, the signatures differ, the rows cannot be joined, a measure is unknown or
            its column is missing, or a cell does not contain a number.

    Example:
        >>> def rows(alarms):
        ...     return [{"id": i, "alarms": x, "signature": "ESTIME|..."} for i, x in enumerate(alarms)]
        >>> a, b = rows([0, 1, 0, 1, 0, 2, 0, 0]), rows([3, 4, 2, 1, 5, 3, 1, 2])
        >>> compare_rows(a, b).verdict("alarms")
        'A is better (approximate randomization, p = 0.0156)'
        >>> found = compare_rows(a, b, a, names=["old", "new", "old again"])
        >>> found.verdict("alarms", "old", "new")
        'old is better (approximate randomization, p = 0.0469, corrected for 3 tests)'
        >>> found.clusters("alarms")
        [('old', 'old again'), ('new',)]
    """
    given = _names(names, len(sides), baseline)
    signature = one_signature(sides, given)
    chosen = _measures(measures)
    return _compare(
        join_rows(sides, given, id_column=id_column, source_column=source_column),
        given,
        signature=signature,
        baseline=baseline,
        measures=chosen,
        options={"n": n, "confidence": confidence, "seed": seed},
    )


def compare_results(
    *results: EstimeResult,
    names: Sequence[str] | None = None,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    n: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compares results of `EstimeScorer.score` on the same sources in the same order.

    Scores are rounded to six decimals, as in files, so the numbers are those that `compare_rows`
    gives for files of these results. If sources repeat, whole sources are drawn and swapped; if the
    results do not have their sources, each pair counts as a separate source.

    Args:
        results: one of each system.
        names, baseline, measures, n, confidence, seed: as for `compare_rows`.

    Raises:
        ValueError: as for `compare_rows`; the results have different lengths, or are about different
            sources.
    """
    given = _names(names, len(results), baseline)
    _check_same_sources(results, given)
    sides = [_rows(result) for result in results]
    signature = one_signature(sides, given)
    chosen = _measures(measures)
    joined = join_rows(sides, given, id_column="order")
    sources = next((one.sources for one in results if one.sources is not None), None)
    if sources is not None:
        in_order = tuple(sources[row["order"]] for row in joined.rows[0])
        joined = replace(joined, sources=in_order)
    return _compare(
        joined,
        given,
        signature=signature,
        baseline=baseline,
        measures=chosen,
        options={"n": n, "confidence": confidence, "seed": seed},
    )


def _compare(
    joined: Joined,
    given: Sequence[str],
    *,
    signature: str,
    baseline: str | None,
    measures: Sequence[str] | None,
    options: dict[str, Any],
) -> Comparison:
    """The comparison of systems with the ``given`` names, of which two without a baseline are called
    A and B.
    """
    labels = ("A", "B") if len(given) == 2 and baseline is None else given
    systems = tuple(
        _system(label, name, rows)
        for label, name, rows in zip(labels, given, joined.rows, strict=True)
    )
    first = None if baseline is None else labels.index(baseline)
    scores, pairs = {}, {}
    for column in _columns(measures, joined.rows[0][0], given[0]):
        scores[column] = np.array([[_number(row, column) for row in rows] for rows in joined.rows])
        tests = compare_each(
            scores[column],
            higher_is_better=higher_is_better(column),
            baseline=first,
            groups=joined.sources,
            tolerance=_LAST_DIGIT,
            **options,
        )
        pairs[column] = tuple(
            Pair(systems[places.first], systems[places.second], test, tests=len(tests))
            for places, test in tests.items()
        )
    return Comparison(
        systems=systems,
        pairs=pairs,
        scores=scores,
        examples=len(joined.rows[0]),
        matched_by=joined.column,
        signature=signature,
        baseline=baseline,
        options=options,
        unmatched=joined.unmatched,
        sources=joined.sources,
    )


def _check_same_sources(results: Sequence[EstimeResult], names: Sequence[str]) -> None:
    """Raises ValueError if results are not about the same sources in the same order; results that do
    not have their sources are only checked for their lengths.
    """
    if len({len(result) for result in results}) > 1:
        lengths = " and ".join(str(len(result)) for result in results)
        raise ValueError(
            f"Expected argument `results` to be about the same sources, but got {lengths} pairs."
        )
    known = [
        (name, result.sources)
        for name, result in zip(names, results, strict=True)
        if result.sources is not None
    ]
    for (first, sources), (name, others) in pairwise(known):
        for index, (source, other) in enumerate(zip(sources, others, strict=True)):
            if source != other:
                raise ValueError(
                    "Expected argument `results` to be about the same sources in the same order, but at "
                    f"index {index} {first} has {shortened(source)!r} and {name} has "
                    f"{shortened(other)!r}."
                )


def _measures(measures: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """The names of the measures, all of which have a direction; ``None`` for the default."""
    if measures is None:
        return None
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    for name in names:
        higher_is_better(name)
    return names


def _names(names: Sequence[str] | None, count: int, baseline: str | None) -> tuple[str, ...]:
    """The names of the systems, checked."""
    if count < 2:
        raise ValueError(f"Expected two systems or more, but got {count}.")
    letters = [first + second for first in ("", *ascii_uppercase) for second in ascii_uppercase]
    found = tuple(names) if names is not None else tuple(letters[:count])
    if len(found) != count:
        raise ValueError(
            f"Expected argument `names` to name {count} systems, but got {len(found)} names."
        )
    twice = [name for index, name in enumerate(found) if name in found[:index]]
    if twice and (count > 2 or baseline is not None):
        raise ValueError(f"Expected each name of a system once, but got {twice[0]!r} twice.")
    if baseline is not None:
        check_choice("baseline", baseline, found)
    return found


def _rows(result: EstimeResult) -> list[ScoredRow]:
    columns = {
        reported_name(measure, layer, result.layers): result.values(measure, layer).tolist()
        for measure in result.measures
        for layer in result.layers
    }
    rows = zip(*columns.values(), strict=True)
    return [
        {"order": order, "signature": result.signature, **dict(zip(columns, values, strict=True))}
        for order, values in enumerate(rows)
    ]


def _columns(measures: Sequence[str] | None, row: ScoredRow, name: str) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms_layer12`` and so on if several layers were
    read.
    """
    found = {
        measure: [column for column in row if measure in (column, measure_of(column))]
        for measure in measures or DEFAULT_MEASURES
    }
    lacking = [measure for measure, columns in found.items() if not columns]
    if lacking and (measures is not None or len(lacking) == len(found)):
        raise ValueError(
            f"Expected a column {lacking[0]!r} in {name}, but its columns are {', '.join(row)}."
        )
    return [column for columns in found.values() for column in columns]


def _system(name: str, given_name: str, rows: Sequence[ScoredRow]) -> System:
    """Means of what is reported in addition to the scores; of several layers the first, since layers
    do not differ in these.
    """
    values = {}
    for measure in BESIDE:
        column = next((key for key in rows[0] if measure_of(key) == measure), None)
        values[measure] = [] if column is None else [_number(row, column) for row in rows]
    # Nothing of a blank summary was checked.
    values["coverage"] = [0.0 if math.isnan(value) else value for value in values["coverage"]]
    means = {}
    for measure, found in values.items():
        known = [value for value in found if not math.isnan(value)]
        means[measure] = math.fsum(known) / len(known) if known else math.nan
    return System(name, values["tokens"].count(0.0), means, given_name)


def _number(row: ScoredRow, column: str) -> float:
    """A cell, rounded as in the files of ``estime score``; NaN if it is empty."""
    if column in row and row[column] in (None, ""):
        return math.nan
    try:
        number = files.plain(float(row[column]))
    except (KeyError, TypeError, ValueError) as error:
        place = f" in line {row['line']}" if "line" in row else ""
        raise ValueError(
            f"Expected a number in column {column!r}, but got {row.get(column)!r}{place}."
        ) from error
    return math.nan if number is None else float(number)
