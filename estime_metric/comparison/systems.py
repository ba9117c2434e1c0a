"""Scores or results of several systems -> their comparison, in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from estime_metric import files
from estime_metric.comparison.joining import Joined, join_scores
from estime_metric.comparison.reading import check_column, check_numbers
from estime_metric.comparison.verdicts import RULE, System, Verdict, Vote, unfit, vote
from estime_metric.measures import HIGHER_IS_BETTER, measure_of
from estime_metric.stats.bootstrap import intervals, source_id
from estime_metric.stats.intervals import Interval
from estime_metric.stats.paired import PairedComparison, compare_each, equalized
from estime_metric.validation import check_choice, listed_names

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

#: Measures whose means are reported in addition to the scores, since they can explain a difference.
PROPERTIES = ("tokens", "coverage", "copied_density")

#: Scores have six decimals. Two scores of one text that was scored in different batches can be
#: rounded to neighbors, which count as equal; 1.5 instead of 1, since these are not exact either.
LAST_DIGIT = 1.5e-6

#: The names of two systems.
Names = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several systems over the examples that all of them have.

    Attributes:
        systems: name -> what the system wrote.
        means: measure (``alarms``, or ``alarms_layer12`` of several layers) -> system -> its mean with
            the bootstrap interval by source. An example without a value of one system is excluded
            for all.
        tests: measure -> two systems -> their paired test, corrected for the number of pairs.
        differences: measure -> two systems -> the interval of the mean difference, first minus
            second.
        examples, sources: how many examples there are, and how many different sources they have,
            which are drawn and swapped as wholes; ``None`` if that is not known.
        matched_by: the column by which the rows were joined.
        signature: the one signature of all scores.
        baseline: name of the system with which each other is compared; ``None``: every two are
            compared.
        n, seed: of the randomization.
        unmatched: one sentence per example that is not compared.
    """

    systems: Mapping[str, System]
    means: Mapping[str, Mapping[str, Interval]]
    tests: Mapping[str, Mapping[Names, PairedComparison]]
    differences: Mapping[str, Mapping[Names, Interval]]
    examples: int
    sources: int | None
    matched_by: str
    signature: str
    baseline: str | None
    n: int
    seed: int
    unmatched: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[Names]:
        """The two systems of each comparison."""
        return list(next(iter(self.tests.values())))

    def ranking(self, measure: str) -> list[str]:
        """The systems from the best mean of a measure to the worst; last those that the measure
        cannot compare. ValueError for a measure that was not compared.
        """
        check_choice("measure", measure, self.means)
        sign = -1.0 if higher_is_better(measure) else 1.0
        means = self.means[measure]

        def key(name: str) -> tuple[bool, float]:
            return bool(unfit(measure, self.systems[name])), sign * means[name].mean

        return sorted(self.systems, key=key)

    def verdicts(self, first: str, second: str) -> list[Verdict]:
        """What the measures say of two systems that were compared, in this order: by `RULE` if both
        of its measures were compared, of each layer; otherwise by each measure alone.
        """
        endings = [name.removeprefix(RULE[0]) for name in self.tests if measure_of(name) == RULE[0]]
        groups = [[f"{name}{ending}" for name in RULE] for ending in endings]
        groups = [group for group in groups if set(group) <= set(self.tests)]
        return [
            Verdict([self.vote(name, first, second) for name in group])
            for group in groups or [[name] for name in self.tests]
        ]

    def winner(self, first: str, second: str) -> str | None:
        """The better one of two systems by the first of `verdicts`; ``None`` if no winner is
        declared.
        """
        return self.verdicts(first, second)[0].winner

    def vote(self, measure: str, first: str, second: str) -> Vote:
        """What one measure says of two systems, in either order; ValueError if they were not
        compared by this measure.
        """
        check_choice("measure", measure, self.tests)
        names = next((names for names in self.pairs if set(names) == {first, second}), None)
        if names is None:
            raise ValueError(
                "Expected arguments `first` and `second` to name two systems that were compared, but "
                f"got {first!r} and {second!r}."
            )
        system, opponent = (self.systems[name] for name in names)
        return vote(measure, system, opponent, self.tests[measure][names])


def compare_scores(
    systems: Mapping[str, pd.DataFrame],
    *,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    id_column: str | None = None,
    source_column: str = "source",
    n: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compares two or more systems by their scores, on the examples that all of them have.

    P-values of one measure are corrected with Holm's method for the number of pairs of systems.
    Scores are rounded to six decimals, as in files, and scores that differ by no more than the last
    digit are equal. Summaries of one source are not independent: the bootstrap draws whole sources,
    and approximate randomization swaps the systems on whole sources.

    Args:
        systems: the scores of each system, as `read_scores` gives them; of one table with a column
            ``system``: ``dict(list(table.groupby("system")))``.
        baseline: name of the system with which each other one is compared (default: every two are
            compared).
        measures: name or names of measures, of all layers that there are (default:
            those of `RULE`).
        id_column, source_column: as for `join_scores`.
        n, seed: number of random swaps, and their seed.

    Raises:
        ValueError: there are fewer than two systems, the baseline is not one of them, the signatures
            differ, the rows cannot be joined, a measure is unknown or its column is missing, or a
            cell is not a number.

    Example:
        >>> ids = range(8)
        >>> a = pd.DataFrame({"id": ids, "alarms": [0, 1, 0, 1, 0, 2, 0, 0], "signature": "ESTIME|..."})
        >>> b = pd.DataFrame({"id": ids, "alarms": [3, 4, 2, 1, 5, 3, 1, 2], "signature": "ESTIME|..."})
        >>> comparison = compare_scores({"old": a, "new": b}, measures="alarms", id_column="id")
        >>> comparison.winner("old", "new"), comparison.tests["alarms"]["old", "new"].p_value
        ('old', 0.015625)
    """
    _check_names(list(systems), baseline)
    signature = _one_signature(systems)
    names = None if measures is None else check_measures(measures)
    columns = _columns(names, systems)
    numeric = {name: _with_numbers(table, columns, name) for name, table in systems.items()}
    joined = join_scores(numeric, id_column=id_column, source_column=source_column)
    return _compare(joined, columns, signature, baseline, n=n, seed=seed)


def compare_results(
    *results: EstimeResult,
    names: Sequence[str] | None = None,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    n: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compares results of `EstimeScorer.score` on the same sources in the same order.

    The numbers are those that `compare_scores` gives for files of these results. If the results do
    not have their sources, each pair counts as a separate source.

    Args:
        results: one of each system.
        names: their names (default: A, B, C, ...).
        baseline, measures, n, seed: as for `compare_scores`.

    Raises:
        ValueError: as for `compare_scores`; a name occurs twice; the results have different lengths,
            or are about different sources.
    """
    labels = list(ascii_uppercase[: len(results)] if names is None else names)
    if len(labels) != len(results):
        raise ValueError(
            f"Expected argument `names` to name {len(results)} systems, but got {len(labels)} names."
        )
    _check_names(labels, baseline)
    known = [list(result.sources) for result in results if result.sources is not None]
    if len(set(map(len, results))) > 1 or any(sources != known[0] for sources in known):
        raise ValueError(
            "Expected argument `results` to be about the same sources in the same order, but they are "
            "not."
        )
    compared = () if measures is None else check_measures(measures)
    systems = {}
    for name, result in zip(labels, results, strict=True):
        reported = tuple(dict.fromkeys((*result.measures, *map(measure_of, compared))))
        table = pd.DataFrame(files.measure_values(result.columns(reported)))
        table = table.assign(order=range(len(result)), signature=str(result.signature))
        if known:
            table[files.SOURCE_ID] = [source_id(source) for source in known[0]]
        systems[name] = table
    return compare_scores(
        systems, baseline=baseline, measures=measures, id_column="order", n=n, seed=seed
    )


def _one_signature(systems: Mapping[str, pd.DataFrame]) -> str:
    """The one signature of all rows; ValueError if a row has none or there are several."""
    of_systems = {}
    for name, table in systems.items():
        of_rows = table.reindex(columns=[files.SIGNATURE])[files.SIGNATURE].fillna("")
        for line in of_rows.index[of_rows == ""]:
            raise ValueError(
                f"Expected each row of {name} to have a signature, but line {line} has none."
            )
        of_systems[name] = of_rows.unique().tolist()
    different = {signature for signatures in of_systems.values() for signature in signatures}
    if len(different) > 1:
        shown = [f"\n  {name}: {s}" for name, signatures in of_systems.items() for s in signatures]
        raise ValueError(
            "Expected all rows to have the same signature, because scores with different settings are "
            f"not comparable, but got{''.join(shown)}"
        )
    return next(iter(different), "")


def check_measures(measures: str | Sequence[str]) -> tuple[str, ...]:
    """The names of measures; ValueError for one that cannot be compared."""
    names = listed_names(measures)
    for name in names:
        higher_is_better(name)
    return names


def higher_is_better(measure: str) -> bool:
    """The direction of a measure, with or without a layer; ValueError if it does not have a direction
    or is unknown.
    """
    name = measure_of(measure)
    if name not in HIGHER_IS_BETTER:
        raise ValueError(
            f"Expected argument `measures` to name some of {', '.join(HIGHER_IS_BETTER)}, but got "
            f"{measure!r}."
        )
    return HIGHER_IS_BETTER[name]


def _compare(
    joined: Joined,
    columns: Sequence[str],
    signature: str,
    baseline: str | None,
    *,
    n: int,
    seed: int,
) -> Comparison:
    names = list(joined.tables)
    examples = len(next(iter(joined.tables.values())))
    # Each example is a separate source if the sources are not known.
    sources = joined.sources or [source_id(str(number)) for number in range(examples)]
    means, tests, differences = {}, {}, {}
    for column in columns:
        scores = np.array([table[column] for table in joined.tables.values()])
        scores[:, np.isnan(scores).any(axis=0)] = np.nan
        compared = compare_each(
            scores,
            higher_is_better=higher_is_better(column),
            baseline=None if baseline is None else names.index(baseline),
            groups=joined.sources,
            tolerance=LAST_DIGIT,
            n=n,
            seed=seed,
        )
        tests[column] = {
            (names[places.first], names[places.second]): test for places, test in compared.items()
        }
        of_pairs = {
            (names[i], names[j]): scores[i] - equalized(scores[i], scores[j], LAST_DIGIT)
            for i, j in compared
        }
        means[column] = intervals(sources, dict(zip(names, scores, strict=True)))
        differences[column] = intervals(sources, of_pairs)
    return Comparison(
        systems={name: _system(name, table) for name, table in joined.tables.items()},
        means=means,
        tests=tests,
        differences=differences,
        examples=examples,
        sources=None if joined.sources is None else len(set(joined.sources)),
        matched_by=joined.matched_by,
        signature=signature,
        baseline=baseline,
        n=n,
        seed=seed,
        unmatched=joined.unmatched,
    )


def _system(name: str, table: pd.DataFrame) -> System:
    """Means of the properties; of several layers the first, since layers do not differ in these."""
    means, blank = {}, 0
    for measure in PROPERTIES:
        column = next((column for column in table if measure_of(column) == measure), None)
        values = pd.Series(dtype=float) if column is None else table[column]
        if measure == "tokens":
            blank = int((values == 0).sum())
        if measure == "coverage":
            values = values.fillna(0.0)  # nothing of a blank summary was checked
        means[measure] = float(values.mean())
    return System(name, len(table), blank, means)


def _with_numbers(table: pd.DataFrame, columns: Sequence[str], name: str) -> pd.DataFrame:
    """A table with numbers in the ``columns`` and in those of `PROPERTIES`, rounded as in the files of
    ``estime score``; NaN for an empty cell.
    """
    for column in columns:
        check_column(table, column, name)
    numbers = {}
    for column in table:
        if column in columns or measure_of(column) in PROPERTIES:
            check_numbers(table, column, name, allow_missing=True)
            numbers[column] = pd.to_numeric(table[column]).astype(np.float64).round(6)
    return table.assign(**numbers)


def _columns(measures: Sequence[str] | None, systems: Mapping[str, pd.DataFrame]) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms_layer12`` and so on if several layers were
    read.
    """
    name, table = next(iter(systems.items()))
    columns = {
        measure: [column for column in table if measure in (column, measure_of(column))]
        for measure in measures or RULE
    }
    lacking = [measure for measure, of_measure in columns.items() if not of_measure]
    if lacking and (measures is not None or len(lacking) == len(columns)):
        check_column(table, lacking[0], name)
    return [column for of_measure in columns.values() for column in of_measure]


def _check_names(names: Sequence[str], baseline: str | None) -> None:
    if len(names) < 2:
        raise ValueError(f"Expected two systems or more, but got {len(names)}.")
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ValueError(f"Expected each name of a system once, but got {name!r} twice.")
    if baseline is not None:
        check_choice("baseline", baseline, names)
