"""Scores or results of several systems -> their comparison, in two data frames."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice, listed_names
from estime_metric.compare.guards import unfit, why_not
from estime_metric.compare.join import join_scores
from estime_metric.compare.reading import check_column, check_numbers
from estime_metric.measures import (
    HIGHER_IS_BETTER,
    MEASURES,
    PAPER_MEASURE,
    RECOMMENDED,
    measure_of,
)
from estime_metric.table.arrays import Floats
from estime_metric.table.intervals import intervals, source_id
from estime_metric.table.table import SIGNATURE, SOURCE_ID, measure_values
from estime_metric.table.tests import LEVEL, compare_paired, equalized, holm

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

#: The measures that are compared unless others are requested.
DEFAULT_MEASURES = (RECOMMENDED, PAPER_MEASURE)

#: Measures whose means are reported in addition to the scores, since they can explain a difference.
PROPERTIES = ("tokens", "coverage", "copied_density")

#: Scores have six decimals. Two scores of one text that was scored in different batches can be
#: rounded to neighbors, which count as equal; 1.5 instead of 1, since these are not exact either.
#: A count adds up the rounding of its tokens, so two counts can differ by this much per token.
LAST_DIGIT = 1.5e-6


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several systems over the examples that all of them have.

    Attributes:
        systems: one row per system, by name, in the given order: ``summaries``, ``blank`` (how many
            summaries have no tokens), the means of ``tokens``, ``coverage`` (0 for a blank summary)
            and ``copied_density``, NaN if they are not known, and of each compared measure its mean
            (``alarms``) with the ends of its 95% bootstrap interval by source (``alarms_low``,
            ``alarms_high``). An example without a value of one system is excluded for all.
        pairs: one row per measure and pair of systems:

            - ``measure`` (``alarms``, or ``alarms_layer12`` of several layers), ``system_a``,
              ``system_b``;
            - ``better``: the system with the significantly better value (``p_holm`` below 0.05);
              ``None`` if there is none or if the measure cannot compare the two;
            - ``why_not``: why the measure cannot compare them, as the end of a sentence; otherwise
              empty;
            - ``mean_a``, ``mean_b``; ``difference``: their difference, with scores that differ only
              by rounding made equal, with the ends ``low`` and ``high`` of its 95% interval;
            - ``p_value`` of approximate randomization, and ``p_holm``, corrected by Holm's method for
              the number of pairs of systems;
            - ``a_better``, ``ties``, ``b_better``: the number of examples in which ``system_a`` has the
              better value, both are equal, and ``system_b`` has the better one;
            - ``examples`` and ``left_out``, those without a value; ``units``, the number of different
              sources, which are drawn and swapped as wholes, or of examples if the sources are not
              known; ``units_differing``, those in which the two systems differ.

        examples, sources: how many examples there are, and how many different sources they have;
            ``None`` if that is not known.
        matched_by: the column by which the rows were joined.
        signature: the one signature of all scores.
        baseline: name of the system with which each other is compared; ``None``: every two are
            compared.
        swaps, seed: of the randomization.
        unmatched: one sentence per source or example that is not compared.
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame
    examples: int
    sources: int | None
    matched_by: str
    signature: str
    baseline: str | None
    swaps: int
    seed: int
    unmatched: tuple[str, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The compared measures, in the requested order."""
        names: list[str] = self.pairs["measure"].unique().tolist()
        return names

    def ranking(self, measure: str) -> list[str]:
        """The systems from the best mean of a measure to the worst, then the systems that the measure
        cannot compare. ValueError for a measure that was not compared.
        """
        check_choice("measure", measure, self.measures)
        sign = -1.0 if higher_is_better(measure) else 1.0
        is_unfit = self.systems.apply(lambda system: bool(unfit(measure, system)), axis=1)
        order = np.lexsort((sign * self.systems[measure], is_unfit))
        return [self.systems.index[place] for place in order]


def compare_scores(
    systems: Mapping[str, pd.DataFrame],
    *,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    id_column: str | None = None,
    source_column: str = "source",
    swaps: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compares two or more systems by their scores, on the examples that all of them have.

    Scores are rounded to six decimals, as in files, and scores that differ by no more than `LAST_DIGIT`
    are equal. Summaries of one source are not independent: the bootstrap draws whole sources,
    and approximate randomization swaps the systems on whole sources.

    Args:
        systems: the scores of each system, as `read_scores` gives them; of one table with a column
            ``system``: ``dict(list(table.groupby("system")))``.
        baseline: name of the system with which each other one is compared (default: every two are
            compared).
        measures: one or more names, as a list or with commas between them. ``alarms`` means all layers
            that were read, ``alarms_layer12`` one of them (default: `DEFAULT_MEASURES`).
        id_column, source_column: as for `join_scores`.
        swaps, seed: number of random swaps, and their seed.

    Raises:
        ValueError: there are fewer than two systems, the baseline is not one of them, the signatures
            differ, the rows cannot be joined, a measure is unknown or has no direction, its column is
            missing, or a cell is not a finite number.

    Example:
        >>> ids = range(8)
        >>> a = pd.DataFrame({"id": ids, "alarms": [0, 1, 0, 1, 0, 2, 0, 0], "signature": "ESTIME|..."})
        >>> b = pd.DataFrame({"id": ids, "alarms": [3, 4, 2, 1, 5, 3, 1, 2], "signature": "ESTIME|..."})
        >>> comparison = compare_scores({"old": a, "new": b}, measures="alarms", id_column="id")
        >>> comparison.pairs[["better", "mean_a", "mean_b", "p_value"]]
          better  mean_a  mean_b   p_value
        0    old     0.5   2.625  0.015625
    """
    check_names(list(systems), baseline)
    signature = _one_signature(systems)
    columns = _columns(None if measures is None else check_measures(measures), systems)
    numeric = {name: _with_numbers(table, columns, name) for name, table in systems.items()}
    joined = join_scores(numeric, id_column=id_column, source_column=source_column)
    examples = len(joined.rows)
    # Each example is a separate source if the sources are not known.
    units = joined.sources or [source_id(str(number)) for number in range(examples)]
    described = pd.DataFrame.from_dict(
        {name: _properties(joined.rows[name]) for name in systems}, orient="index"
    )
    if baseline is None:
        compared = list(itertools.combinations(systems, 2))
    else:
        compared = [(baseline, name) for name in systems if name != baseline]
    rows = []
    for measure in columns:
        scores = pd.DataFrame({name: joined.rows[name][measure] for name in systems})
        scores = scores.where(scores.notna().all(axis=1))
        means = intervals(units, {name: scores[name].to_numpy() for name in systems})
        described[measure] = [means[name].mean for name in systems]
        described[f"{measure}_low"] = [means[name].low for name in systems]
        described[f"{measure}_high"] = [means[name].high for name in systems]
        tolerance = _tolerance(measure, joined.rows, list(systems))
        rows += _compared(
            measure, scores, compared, described, units, tolerance, swaps=swaps, seed=seed
        )
    pairs = pd.DataFrame(rows)
    pairs["better"] = pd.Series([row["better"] for row in rows], dtype=object)  # None stays None
    return Comparison(
        systems=described,
        pairs=pairs,
        examples=examples,
        sources=None if joined.sources is None else len(set(joined.sources)),
        matched_by=joined.matched_by,
        signature=signature,
        baseline=baseline,
        swaps=swaps,
        seed=seed,
        unmatched=joined.unmatched,
    )


def compare_results(
    *results: EstimeResult,
    names: Sequence[str] | None = None,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    swaps: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compares results of `EstimeScorer.score` on the same sources in the same order.

    The numbers are those that `compare_scores` gives for files of these results. If the results do
    not have their sources, each pair counts as a separate source.

    Args:
        results: one of each system.
        names: their names (default: A, B, C, ...).
        baseline, measures, swaps, seed: as for `compare_scores`.

    Raises:
        ValueError: as for `compare_scores`; a name occurs twice; the results have different lengths,
            or are about different sources.
    """
    labels = list(ascii_uppercase[: len(results)] if names is None else names)
    if len(labels) != len(results):
        raise ValueError(
            f"Expected argument `names` to name {len(results)} systems, but got {len(labels)} names."
        )
    check_names(labels, baseline)
    known = [list(result.sources) for result in results if result.sources is not None]
    if len(set(map(len, results))) > 1 or any(sources != known[0] for sources in known):
        raise ValueError(
            "Expected argument `results` to be about the same sources in the same order, but they are "
            "not."
        )
    requested = () if measures is None else check_measures(measures)
    return compare_scores(
        {
            name: scores_of(result, requested).assign(order=range(len(result)))
            for name, result in zip(labels, results, strict=True)
        },
        baseline=baseline,
        measures=measures,
        id_column="order",
        swaps=swaps,
        seed=seed,
    )


def scores_of(result: EstimeResult, measures: Sequence[str] = ()) -> pd.DataFrame:
    """The scores of a result as `table.read` gives them for its file, with further ``measures``."""
    reported = tuple(dict.fromkeys((*result.measures, *map(measure_of, measures))))
    table = pd.DataFrame(measure_values(result.columns(reported)))
    if result.sources is not None:
        table[SOURCE_ID] = list(map(source_id, result.sources))
    return table.assign(**{SIGNATURE: str(result.signature)})


def check_measures(measures: str | Sequence[str]) -> tuple[str, ...]:
    """The names of measures, with or without a layer. Raises ValueError for a measure that does not have
    a direction, TypeError for anything but names.
    """
    names = listed_names("measures", measures)
    for name in names:
        check_choice("measures", measure_of(str(name)), HIGHER_IS_BETTER)
    return names


def higher_is_better(measure: str) -> bool:
    """The direction of a compared measure, with or without a layer."""
    return HIGHER_IS_BETTER[measure_of(measure)]


def _properties(rows: pd.DataFrame) -> dict[str, float]:
    """What a system wrote; of several layers the first, since layers do not differ in this."""
    values = {measure: _property(rows, measure) for measure in PROPERTIES}
    return {
        "summaries": len(rows),
        "blank": int((values["tokens"] == 0).sum()),
        **{measure: float(column.mean()) for measure, column in values.items()},
    }


def _property(rows: pd.DataFrame, measure: str) -> pd.Series:
    """The values of one of `PROPERTIES`; NaN if they are not known."""
    column = next((column for column in rows if measure_of(column) == measure), None)
    return pd.Series(np.nan, rows.index) if column is None else rows[column]


def _tolerance(measure: str, rows: pd.DataFrame, systems: Sequence[str]) -> Floats:
    """How far two equal scores of each example can differ by rounding, (examples,)."""
    if MEASURES[measure_of(measure)].kind != "count":
        return np.full(len(rows), LAST_DIGIT)
    tokens = np.array([_property(rows[name], "tokens") for name in systems], dtype=np.float64)
    most: Floats = np.fmax(tokens, 1.0).max(axis=0)
    return LAST_DIGIT * most


def _compared(
    measure: str,
    scores: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    systems: pd.DataFrame,
    units: Sequence[str],
    tolerance: Floats,
    *,
    swaps: int,
    seed: int,
) -> list[dict[str, Any]]:
    """The rows of `Comparison.pairs` for one measure. ``scores`` have one column per system, ``systems``
    are the rows of `Comparison.systems`; ``units`` are the source of each example, and ``tolerance`` is
    how far two equal scores of it can differ.
    """
    values = {name: scores[name].to_numpy() for name in scores}
    is_higher_better = higher_is_better(measure)
    tests = [
        compare_paired(
            values[first],
            values[second],
            higher_is_better=is_higher_better,
            groups=units,
            tolerance=tolerance,
            n=swaps,
            seed=seed,
        )
        for first, second in pairs
    ]
    p_values = [test.p_value for test in tests]
    corrected = p_values if np.isnan(p_values).any() else holm(p_values).tolist()
    differences = {
        (first, second): values[first] - equalized(values[first], values[second], tolerance)
        for first, second in pairs
    }
    around = intervals(units, differences)
    rows = []
    for (first, second), test, p_holm in zip(pairs, tests, corrected, strict=True):
        leader = first if (test.difference > 0) == is_higher_better else second
        better = leader if p_holm < LEVEL else None
        reason = why_not(measure, systems.loc[first], systems.loc[second], better)
        rows.append(
            {
                "measure": measure,
                "system_a": first,
                "system_b": second,
                "better": None if reason else better,
                "why_not": reason,
                "mean_a": test.mean_first,
                "mean_b": test.mean_second,
                "difference": test.difference,
                "low": around[first, second].low,
                "high": around[first, second].high,
                "p_value": test.p_value,
                "p_holm": p_holm,
                "a_better": test.better_first,
                "ties": test.ties,
                "b_better": test.better_second,
                "examples": test.examples,
                "left_out": test.left_out,
                "units": test.groups,
                "units_differing": test.groups_differing,
            }
        )
    return rows


def _one_signature(systems: Mapping[str, pd.DataFrame]) -> str:
    """The one signature of all rows; ValueError if a row has none or there are several."""
    signatures = {}
    for name, table in systems.items():
        cells = table.reindex(columns=[SIGNATURE])[SIGNATURE].fillna("")
        for line in cells.index[cells == ""]:
            raise ValueError(
                f"Expected each row of {name} to have a signature, but line {line} has none."
            )
        signatures[name] = cells.unique().tolist()
    different = set(itertools.chain(*signatures.values()))
    if len(different) > 1:
        shown = [f"\n  {name}: {text}" for name, texts in signatures.items() for text in texts]
        raise ValueError(
            "Expected all rows to have the same signature, because scores with different settings are "
            f"not comparable, but got{''.join(shown)}"
        )
    return next(iter(different), "")


def _with_numbers(table: pd.DataFrame, columns: Sequence[str], name: str) -> pd.DataFrame:
    """A table with numbers in the ``columns`` and in the columns of `PROPERTIES`, rounded as in the
    files of ``estime score``; NaN for an empty cell.
    """
    for column in columns:
        check_column(
            table,
            column,
            name,
            f'Score it again with measures="{measure_of(column)}" if it has none.',
        )
    numbers = {}
    for column in table:
        if column in columns or measure_of(column) in PROPERTIES:
            check_numbers(table, column, name)
            numbers[column] = pd.to_numeric(table[column]).astype(np.float64).round(6)
    return table.assign(**numbers)


def _columns(measures: Sequence[str] | None, systems: Mapping[str, pd.DataFrame]) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms_layer12`` and so on if several layers were
    read.
    """
    table = next(iter(systems.values()))
    columns = {
        measure: [column for column in table if measure in (column, measure_of(column))]
        for measure in measures or DEFAULT_MEASURES
    }
    if measures is None and any(columns.values()):
        return list(itertools.chain(*columns.values()))
    named = (name for measure, names in columns.items() for name in names or [measure])
    return list(dict.fromkeys(named))


def check_names(names: Sequence[str], baseline: str | None) -> None:
    """Raises ValueError unless there are two systems or more with different names, and the baseline is
    one of them.
    """
    if len(names) < 2:
        raise ValueError(f"Expected two systems or more, but got {len(names)}.")
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ValueError(f"Expected each name of a system once, but got {name!r} twice.")
    if baseline is not None:
        check_choice("baseline", baseline, names)
