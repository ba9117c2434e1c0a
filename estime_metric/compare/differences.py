"""The examples of several systems -> their comparison, in three data frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.compare.examples import PROPERTIES, Examples, examples_of
from estime_metric.compare.failures import is_broken
from estime_metric.compare.pairwise import Difference, uncomparable, why_not
from estime_metric.compare.request import Request
from estime_metric.measures import TEMPERATURE, Measure
from estime_metric.table.arrays import Floats, group_codes
from estime_metric.table.intervals import Interval, intervals
from estime_metric.table.rows import Layout
from estime_metric.table.scores import Scores
from estime_metric.table.significance import (
    approximate_randomization,
    group_sums,
    holm,
    is_difference,
)

#: Scores have six decimals. Two scores of one text that was scored in different batches can be
#: rounded to neighbors, which count as equal; 1.5 instead of 1, since these are not exact either.
#: A count adds up the rounding of its tokens, so two counts can differ by this much per token. Values of
#: other metrics are equal if they differ by this fraction.
LAST_DIGIT = 1.5e-6

#: A graded alarm is steep: at its steepest, it changes by 1 / (4 * TEMPERATURE) times the change of the
#: relative margin, which float32 rounds to within this much.
_MARGIN = 2.0**-21
GRADED_DIGIT = _MARGIN / (4 * TEMPERATURE)


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(Examples):
    """Several systems over the examples that all of them have. Further attributes are those of
    `Examples`.

    Attributes:
        systems: one row per system, by name, in the given order: ``summaries``, ``blank`` (how many
            summaries have no tokens), ``skipped`` (how many of its rows are not compared), and the means
            of ``tokens``, ``coverage`` (0 for a blank summary) and ``copied_density``, NaN if they are
            not known.
        intervals: the mean of each compared measure and system, with its 95% bootstrap interval by source. An
            example without a value of one system is excluded for all.
        differences: of each compared measure, how every two systems differ, or each and the baseline.
        guards: of two systems, what a gate looks at in addition to the measures: ``blank``;
            ``copied_density``, in examples in which the first summary is neither blank nor repeats itself;
            and ``undefined``, whether the first measure has no value.
    """

    systems: pd.DataFrame
    intervals: Mapping[tuple[str, str], Interval]
    differences: Mapping[str, Sequence[Difference]]
    guards: Sequence[Difference]

    @cached_property
    def means(self) -> pd.DataFrame:
        """One row per compared ``measure`` and ``system``: the ``mean``, the ends ``low`` and ``high`` of its
        interval, and ``count``, how many values it is of.
        """
        return pd.DataFrame(
            {"measure": measure, "system": name, **vars(interval)}
            for (measure, name), interval in self.intervals.items()
        )

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """One row per measure and pair of systems, with the attributes of `Difference`."""
        rows = [row for rows in self.differences.values() for row in rows]
        pairs = pd.DataFrame(rows)
        # None stays None, and counts stay integers.
        for name in ("better_score", "a_better", "b_better"):
            pairs[name] = pd.Series([getattr(row, name) for row in rows], dtype=object)
        return pairs

    def ranking(self, measure: str) -> list[str]:
        """The systems from the best mean of a measure to the worst, then the systems that the measure
        cannot compare; from the lowest mean to the highest if its direction is not known. ValueError for
        a measure that was not compared.
        """
        check_choice("measure", measure, self.measures)
        sign = -1.0 if self.higher_is_better[measure] else 1.0

        def place(name: str) -> tuple[bool, float]:
            is_unfit = bool(uncomparable(self.definitions[measure], self.systems.loc[[name]]))
            return is_unfit, sign * self.intervals[measure, name].mean

        return sorted(self.names, key=place)


def compare_scores(
    systems: Mapping[str, pd.DataFrame],
    *,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    higher: str | Sequence[str] = (),
    lower: str | Sequence[str] = (),
    id_column: str | None = None,
    source_column: str = "source",
    summary_column: str = "summary",
) -> Comparison:
    """Compares two or more systems by their scores, on the examples that all of them have.

    Measures of ESTIME are rounded to six decimals, as in files, and scores that differ only by rounding
    are equal: by no more than `LAST_DIGIT`, or, in a count, this much per token (`GRADED_DIGIT` in graded
    alarms). Summaries of one source are not independent: the bootstrap draws whole sources, and
    approximate randomization swaps the systems on whole sources.

    Args:
        systems: the table of each system: `EstimeResult.table`, what `read_scores` reads, or any other
            table of numbers; of one table with a column ``system``:
            ``dict(list(table.groupby("system")))``.
        baseline: name of the system with which each other one is compared (default: every two are
            compared).
        measures: one or more columns, as a list or with commas between them: measures of ESTIME or
            any other numbers. ``alarms`` means all layers that were read, ``alarms_layer12`` one of
            them (default: `DEFAULT_MEASURES`). The name of a measure of ESTIME means its scores, in a
            table with a signature.
        higher, lower: the columns in which higher or lower values are better. The direction of ESTIME's
            measures is known. In another column that is not named, nothing is called better.
        id_column, source_column: as for `join_scores`.
        summary_column: the column of the summaries. From the texts, if there are any, the copying of
            systems is computed that have no ``copied_density``.

    Raises:
        ValueError: there are fewer than two systems, the baseline is not one of them, the signatures
            differ or are missing although a measure of ESTIME is compared, the rows cannot be joined, a
            column is missing, a cell is not a finite number, or a direction is impossible.

    Example:
        >>> ids = range(8)
        >>> a = pd.DataFrame({"id": ids, "alarms": [0, 1, 0, 1, 0, 2, 0, 0], "signature": "ESTIME|..."})
        >>> b = pd.DataFrame({"id": ids, "alarms": [3, 4, 2, 1, 5, 3, 1, 2], "signature": "ESTIME|..."})
        >>> comparison = compare_scores({"old": a, "new": b}, measures="alarms", id_column="id")
        >>> comparison.pairs[["better_score", "mean_a", "mean_b", "p_value"]]
          better_score  mean_a  mean_b   p_value
        0          old     0.5   2.625  0.015625
    """
    request = Request(
        baseline=baseline,
        measures=measures,
        higher=higher,
        lower=lower,
        id_column=id_column,
        layout=Layout(source_column=source_column, summary_column=summary_column),
    )
    return compare_systems({name: Scores.of(table) for name, table in systems.items()}, request)


def compare_systems(systems: Mapping[str, Scores], request: Request) -> Comparison:
    """As `compare_scores`, with its arguments as one object."""
    examples = examples_of(systems, request, computed={})
    described = _described(examples)
    columns = [
        Column(
            measure,
            examples.values[measure],
            is_higher_better=examples.higher_is_better[measure],
            rounding=_rounding(definition, examples),
        )
        for measure, definition in examples.definitions.items()
    ]
    guards = _guards(examples) if len(examples.compared) == 1 else []
    parts: dict[Any, pd.Series] = {
        (column, *names): part
        for column in (*columns, *guards)
        for names, part in column.parts(examples.compared).items()
    }
    # Together, because drawing resamples is slow.
    of_others = {key for key in parts if key[0].rounding is None}
    around: Mapping[Any, Interval] = intervals(examples.units, parts, of_others=of_others)

    def checked(row: Difference) -> Difference:
        reason = why_not(examples, described, row)
        return replace(row, better_score=None, why_not=reason) if reason else row

    return Comparison(
        **vars(examples),
        systems=described,
        intervals={
            (column.name, name): around[column, name]
            for column in columns
            for name in examples.names
        },
        differences={
            column.name: list(map(checked, _differences(examples, column, parts, around)))
            for column in columns
        },
        guards=[row for guard in guards for row in _differences(examples, guard, parts, around)],
    )


@dataclass(frozen=True, eq=False)
class Column:
    """Values that are compared.

    Attributes:
        name: of the measure.
        values: one row per example and one column per system.
        is_higher_better: the direction; ``None`` if there is none.
        rounding: how far two equal values can differ, or those of each example, (examples,); ``None`` for
            numbers of others, which can have any size. All others have six decimals.
    """

    name: str
    values: pd.DataFrame
    is_higher_better: bool | None = False
    rounding: Floats | float | None = LAST_DIGIT

    def parts(self, compared: Sequence[tuple[str, str]]) -> dict[tuple[str, ...], pd.Series]:
        """Of each system, by its name, its values, and of two that are compared, by both names, those of the
        first minus those of the second; NaN in examples without a value of one system.
        """
        values = self.values.dropna().reindex(self.values.index)
        parts: dict[tuple[str, ...], pd.Series] = {(name,): values[name] for name in values}
        for first, second in compared:
            a, b = values[first], values[second]
            limit = self.rounding
            if limit is None:
                limit = LAST_DIGIT * np.fmax(a.abs(), b.abs())
            parts[first, second] = (a - b).mask((a - b).abs() <= limit, 0.0)
        return parts


def _guards(examples: Examples) -> list[Column]:
    """The columns of `Comparison.guards`."""
    base, _ = examples.compared[0]
    copied = examples.described("copied_density").mask(is_broken(examples.tables[base]))
    return [
        Column("blank", examples.described("blank")),
        Column("copied_density", copied),
        Column("undefined", examples.values[examples.measures[0]].isna() * 1.0),
    ]


def _differences(
    examples: Examples,
    column: Column,
    parts: Mapping[Any, pd.Series],
    around: Mapping[Any, Interval],
) -> list[Difference]:
    """How every two systems that are compared differ in a column.

    Args:
        examples: names the systems.
        column: what is compared.
        parts: the parts of all columns, by the column and the names.
        around: their intervals.
    """
    known = column.values.notna().all(axis=1).array
    count = int(known.sum())
    codes = group_codes(np.asarray(examples.units)[known], count)
    differences = [parts[column, *names].to_numpy()[known] for names in examples.compared]
    p_values = corrected = [math.nan] * len(differences)
    if count:
        nothing = np.zeros(count)
        p_values = [approximate_randomization(each, nothing, groups=codes) for each in differences]
        corrected = holm(p_values).tolist()
    rows = []
    for (first, second), difference, p_value, p_holm in zip(
        examples.compared, differences, p_values, corrected, strict=True
    ):
        mean = around[column, first, second]
        above, below = int((difference > 0).sum()), int((difference < 0).sum())
        wins = {True: (above, below), False: (below, above), None: (None, None)}
        a_better, b_better = wins[column.is_higher_better]
        better_score = None
        if column.is_higher_better is not None and is_difference(mean.low, mean.high, p_holm):
            better_score = first if (mean.mean > 0) == column.is_higher_better else second
        sums = group_sums(difference, codes)
        rows.append(
            Difference(
                measure=column.name,
                system_a=first,
                system_b=second,
                better_score=better_score,
                mean_a=around[column, first].mean,
                mean_b=around[column, second].mean,
                difference=mean.mean,
                low=mean.low,
                high=mean.high,
                p_value=p_value,
                p_holm=p_holm,
                a_better=a_better,
                ties=count - above - below,
                b_better=b_better,
                examples=count,
                left_out=examples.examples - count,
                units=len(sums),
                units_differing=int(np.count_nonzero(sums)),
            )
        )
    return rows


def _described(examples: Examples) -> pd.DataFrame:
    """`Comparison.systems`."""
    rows = pd.concat(examples.tables).groupby(level=0, sort=False)
    blank = rows["blank"].sum(min_count=1)
    return pd.DataFrame(
        {
            "summaries": examples.examples,
            "blank": blank if blank.isna().any() else blank.astype(int),
            "skipped": pd.Series(examples.skipped),
            **rows[list(PROPERTIES)].mean(),
        },
        examples.names,
    )


def _rounding(definition: Measure | None, examples: Examples) -> Floats | float | None:
    """The `Column.rounding` of a compared measure."""
    if definition is None:
        return None
    if definition.kind != "count":
        return LAST_DIGIT
    most: Floats = examples.described("tokens").max(axis=1).fillna(1.0).clip(lower=1.0).to_numpy()
    return (GRADED_DIGIT if "graded_alarms" in definition.needs else LAST_DIGIT) * most
