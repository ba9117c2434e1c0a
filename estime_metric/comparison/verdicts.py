"""Rows of two summarizers -> what the measures say of them, and which is better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from estime_metric.comparison.rows import Row, join_rows, one_signature
from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import HIGHER_IS_BETTER
from estime_metric.meta.paired import LEVEL, PairedComparison, compare_paired

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

#: What is compared where nothing else is asked for.
DEFAULT_MEASURES = ("alarms", "alarm_rate", "unsupported_rate")

#: Fewer examples than this are called few.
SMALL_SAMPLE = 30


@dataclass(frozen=True)
class Comparison:
    """Two summarizers, A and B, over the examples that both have.

    Attributes:
        found: measure (``alarms``, or ``alarms@12`` of several layers) -> means, wins and tests; A is the first.
        examples: number of examples.
        matched_by: the column by which the rows were joined; ``"order"`` for results.
        signature: the one of all scores.
        coverage: of A and B, the mean share of a summary's tokens that were checked, 0 to 1; NaN where unknown.
        tokens: of A and B, the mean number of tokens of a summary; NaN where unknown.
        unmatched: one sentence for each row without a partner.
    """

    found: Mapping[str, PairedComparison]
    examples: int
    matched_by: str
    signature: str
    coverage: tuple[float, float]
    tokens: tuple[float, float]
    unmatched: tuple[str, ...] = ()

    @property
    def low_coverage(self) -> str | None:
        """Why no winner is declared, where too little was checked in A or in B; else ``None``."""
        low = [
            f"only {share:.0%} of the tokens of {name} were checked"
            for name, share in zip("AB", self.coverage, strict=True)
            if share < LOW_COVERAGE
        ]
        return " and ".join(low) or None

    def better(self, measure: str) -> str | None:
        """``"A"``, ``"B"``, or ``None`` where there is no significant difference or coverage is low."""
        if self.low_coverage is not None:
            return None
        return {"first": "A", "second": "B", None: None}[self.found[measure].better]

    def verdict(self, measure: str) -> str:
        """What `better` says, in words and with the reason."""
        found = self.found[measure]
        if not found.examples:
            return "no example has a value on both sides"
        if self.low_coverage is not None:
            return f"no winner is declared: {self.low_coverage}"
        better = self.better(measure)
        said = "no significant difference" if better is None else f"{better} is better"
        return f"{said} (approximate randomisation, p {_p(found.randomization.p_value)})"

    @property
    def notes(self) -> list[str]:
        """What a reader has to know of these numbers, one sentence each."""
        notes = []
        differing = {name: one.better_first + one.better_second for name, one in self.found.items() if one.examples}
        if self.examples < SMALL_SAMPLE:
            notes.append(
                f"Few examples ({self.examples}): only large differences can be significant, and the bootstrap's "
                "intervals are too narrow."
            )
        # Of k examples that differ, the least p-value of all swaps is 2 / 2 ** k.
        least = math.ceil(1 - math.log2(LEVEL))
        notes += [
            f"{name}: only {number} of {self.examples} examples differ; at least {least} have to for significance."
            for name, number in differing.items()
            if 0 < number < least
        ]
        notes += [
            f"{name}: {one.left_out} of {self.examples} examples are left out, since a side has no value."
            for name, one in self.found.items()
            if one.left_out
        ]
        if self.low_coverage is not None:
            notes.append(
                "Tokens that do not occur in the source cannot be checked. Where most are unchecked, few alarms do not "
                "mean consistent; look at the summaries."
            )
        return notes

    def to_rows(self) -> list[dict[str, Any]]:
        """One flat row for each measure, for a file or a data frame."""
        return [
            {
                "measure": measure,
                "examples": one.examples,
                "left_out": one.left_out,
                "mean_a": one.mean_first,
                "mean_b": one.mean_second,
                "difference": one.bootstrap.difference,
                "low": one.bootstrap.low,
                "high": one.bootstrap.high,
                "p_bootstrap": one.bootstrap.p_value,
                "p_randomization": one.randomization.p_value,
                "a_better": one.better_first,
                "ties": one.ties,
                "b_better": one.better_second,
                "better": self.better(measure),
                "coverage_a": self.coverage[0],
                "coverage_b": self.coverage[1],
                "verdict": self.verdict(measure),
                "signature": self.signature,
            }
            for measure, one in self.found.items()
        ]


def compare_rows(
    a: Sequence[Row],
    b: Sequence[Row],
    *,
    measures: Sequence[str] | None = None,
    id_column: str | None = None,
    source_column: str = "source",
    names: tuple[str, str] = ("A", "B"),
    n: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compares two summarizers by their scored rows.

    Args:
        a: rows of the first, as ``estime score -o`` writes them.
        b: rows of the second.
        measures: names of measures; of several layers each is compared. `DEFAULT_MEASURES` where left out.
        id_column, source_column, names: as for `join_rows`.
        n: number of resamples and of random swaps.
        confidence: share of the resamples within an interval.
        seed: of the random numbers.

    Raises:
        ValueError: the signatures differ, the rows cannot be joined, a measure is unknown or its column is missing, or
            a cell holds no number. An empty cell and NaN have no value: that example is left out for that measure.

    Example:
        >>> def rows(alarms):
        ...     return [{"id": i, "alarms": x, "signature": "ESTIME|..."} for i, x in enumerate(alarms)]
        >>> found = compare_rows(rows([0, 1, 0, 1, 0, 2, 0]), rows([3, 4, 2, 1, 5, 3, 1]))
        >>> found.verdict("alarms")
        'A is better (approximate randomisation, p = 0.0312)'
        >>> found.notes[0][:24]
        'Few examples (7): only l'
    """
    signature = one_signature(a, b, names)
    for name in measures or ():
        higher_is_better(name)
    joined = join_rows(a, b, id_column=id_column, source_column=source_column, names=names)
    columns = _columns(measures, joined.a[0], names[0])
    sides = joined.a, joined.b
    return Comparison(
        {
            column: compare_paired(
                *([_number(row, column) for row in side] for side in sides),
                higher_is_better=higher_is_better(column), n=n, confidence=confidence, seed=seed,
            )
            for column in columns
        },
        len(joined.a),
        joined.column,
        signature,
        (_mean(_coverage(joined.a)), _mean(_coverage(joined.b))),
        (_mean(_optional(joined.a, "tokens")), _mean(_optional(joined.b, "tokens"))),
        joined.unmatched,
    )  # fmt: skip


def compare_results(
    a: EstimeResult, b: EstimeResult, *, measures: Sequence[str] | None = None, **options: Any
) -> Comparison:
    """Compares two summarizers by what `EstimeScorer.score` gave for their summaries of the same sources, in order.

    Args:
        a: scores of the first.
        b: scores of the second.
        measures: as for `compare_rows`.
        options: ``n``, ``confidence`` and ``seed``, as for `compare_rows`.

    Raises:
        ValueError: as for `compare_rows`, or the results differ in length.
    """
    if len(a) != len(b):
        raise ValueError(
            f"Expected arguments `a` and `b` to be about the same sources, but got {len(a)} and {len(b)} pairs."
        )
    return compare_rows(_rows(a), _rows(b), measures=measures, id_column="order", **options)


def higher_is_better(measure: str) -> bool:
    """The direction of a measure, with or without a layer behind its name.

    Raises:
        ValueError: it judges nothing (``tokens``) or is unknown.
    """
    base = measure.split("@")[0]
    if base not in HIGHER_IS_BETTER:
        listed = ", ".join(HIGHER_IS_BETTER)
        raise ValueError(f"Expected argument `measures` to name some of {listed}, but got {measure!r}.")
    return HIGHER_IS_BETTER[base]


def _rows(result: EstimeResult) -> list[Row]:
    columns = {
        measure if len(result.layers) == 1 else f"{measure}@{layer}": result.values(measure, layer).tolist()
        for measure in result.measures
        for layer in result.layers
    }
    return [
        {"order": index, "signature": result.signature, **{name: values[index] for name, values in columns.items()}}
        for index in range(len(result))
    ]


def _columns(measures: Sequence[str] | None, row: Row, name: str) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms@12`` and so on where several layers were read."""
    found = {
        measure: [column for column in row if column == measure or column.startswith(f"{measure}@")]
        for measure in measures or DEFAULT_MEASURES
    }
    lacking = [measure for measure, columns in found.items() if not columns]
    if lacking and (measures is not None or len(lacking) == len(found)):
        raise ValueError(f"Expected a column {lacking[0]!r} in {name}, but its columns are {', '.join(row)}.")
    return [column for columns in found.values() for column in columns]


def _number(row: Row, column: str) -> float:
    """A cell; NaN where it is empty."""
    if column in row and row[column] in (None, ""):
        return math.nan
    try:
        return float(row[column])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"Expected a number in column {column!r}, but got {row.get(column)!r} in line {row.get('line', '?')}."
        ) from error


def _optional(rows: Sequence[Row], name: str) -> list[float]:
    """A column of counts, or its first layer's, since layers do not differ in them; NaN where it is missing."""
    column = next((key for key in rows[0] if key.split("@")[0] == name), None)
    return [_number(row, column) if column in row else math.nan for row in rows] if column else [math.nan] * len(rows)


def _coverage(rows: Sequence[Row]) -> list[float]:
    """Share of each summary's tokens that were checked; NaN of a summary without tokens."""
    shares, overlap, tokens = (_optional(rows, name) for name in ("coverage", "overlap", "tokens"))
    if not all(map(math.isnan, shares)):
        return shares
    return [part / whole if whole else math.nan for part, whole in zip(overlap, tokens, strict=True)]


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"= {value:.4f}"
