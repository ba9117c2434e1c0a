"""The examples of several systems -> their comparison, in three data frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.compare.examples import PROPERTIES, Examples, examples_of, match
from estime_metric.compare.failures import is_broken
from estime_metric.compare.request import Request
from estime_metric.compare.unfit import uncomparable, why_not
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
        means: one row per compared ``measure`` and ``system``: the ``mean``, the ends ``low`` and ``high``
            of its 95% bootstrap interval by source, and ``count``, how many values it is of. An example
            without a value of one system is excluded for all.
        pairs: one row per measure and pair of systems:

            - ``measure`` (``alarms``, or ``alarms_layer12`` of several layers), ``system_a``,
              ``system_b``;
            - ``better_score``: the system with the significantly better score: the interval of the
              difference excludes 0, and ``p_holm`` is below 0.05. ``None`` if there is none, if the
              measure cannot compare the two, or if its direction is not known. Whether it is the better
              system the command does not say;
            - ``why_not``: why the measure cannot compare them, as the end of a sentence; otherwise
              empty;
            - ``mean_a``, ``mean_b``; ``difference``: their difference, with scores that differ only
              by rounding made equal, with the ends ``low`` and ``high`` of its 95% interval;
            - ``p_value`` of approximate randomization, and ``p_holm``, corrected by Holm's method for
              the number of pairs of systems;
            - ``a_better``, ``ties``, ``b_better``: the number of examples in which ``system_a`` has the
              better value, both are equal, and ``system_b`` has the better one; the first and the last
              are ``None`` if the direction is not known;
            - ``examples`` and ``left_out``, those without a value; ``units``, the number of different
              sources, which are drawn and swapped as wholes, or of examples if the sources are not
              known; ``units_differing``, those in which the two systems differ.
        guards: of two systems, what a gate looks at in addition to the measures, each as a row of ``pairs``:
            ``blank``; ``copied_density``, in examples in which the first summary is neither blank nor
            repeats itself; and ``undefined``, whether the first measure has no value.
    """

    systems: pd.DataFrame
    means: pd.DataFrame
    pairs: pd.DataFrame
    guards: Mapping[str, Mapping[str, Any]]

    def ranking(self, measure: str) -> list[str]:
        """The systems from the best mean of a measure to the worst, then the systems that the measure
        cannot compare; from the lowest mean to the highest if its direction is not known. ValueError for
        a measure that was not compared.
        """
        check_choice("measure", measure, self.measures)
        sign = -1.0 if self.higher_is_better[measure] else 1.0
        means = self.means[self.means["measure"] == measure].set_index("system")["mean"]

        def place(name: str) -> tuple[bool, float]:
            is_unfit = bool(uncomparable(self.definitions[measure], self.systems.loc[[name]]))
            return is_unfit, sign * means[name]

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
    matched = match(systems, request, computed={})
    return compare_examples(examples_of(matched, systems, request))


def compare_examples(examples: Examples) -> Comparison:
    """The comparison of all systems by all measures."""
    described = _described(examples)
    columns = [
        _column(
            examples,
            measure,
            examples.values[measure],
            is_higher_better=examples.higher_is_better[measure],
            rounding=_rounding(definition, examples),
        )
        for measure, definition in examples.definitions.items()
    ]
    guards = _guards(examples) if len(examples.compared) == 1 else []
    around = _intervals(examples, [*columns, *guards])
    means = [
        {"measure": column.name, "system": name, **vars(around[column, name])}
        for column in columns
        for name in examples.names
    ]
    pairs = [row for column in columns for row in _pairs(examples, column, around)]
    for row in pairs:
        if reason := why_not(examples, described, row):
            row |= {"better_score": None, "why_not": reason}
    as_frame = pd.DataFrame(pairs)
    for name in ("better_score", "a_better", "b_better"):  # None stays None, counts stay integers
        as_frame[name] = pd.Series([row[name] for row in pairs], dtype=object)
    return Comparison(
        **vars(examples),
        systems=described,
        means=pd.DataFrame(means),
        pairs=as_frame,
        guards={row["measure"]: row for guard in guards for row in _pairs(examples, guard, around)},
    )


@dataclass(frozen=True, eq=False)
class Column:
    """Values that are compared.

    Attributes:
        name: of the measure.
        is_higher_better: the direction; ``None`` if there is none.
        is_of_others: whether the values can have any size; otherwise they have six decimals.
        values: of each system, by its name, the values, (examples,); of two, by both names, those of the
            first minus those of the second. NaN in examples without a value of one system.
    """

    name: str
    is_higher_better: bool | None
    is_of_others: bool
    values: Mapping[tuple[str, ...], pd.Series]


def _column(
    examples: Examples,
    name: str,
    values: pd.DataFrame,
    *,
    is_higher_better: bool | None = False,
    rounding: Floats | float | None = LAST_DIGIT,
) -> Column:
    """A column.

    Args:
        examples: names the systems.
        name: of the measure.
        values: one row per example and one column per system.
        is_higher_better: the direction.
        rounding: how far two equal values of each example can differ, (examples,); ``None`` for numbers of
            others.
    """
    values = values.dropna().reindex(values.index)
    parts: dict[tuple[str, ...], pd.Series] = {
        (system,): values[system] for system in examples.names
    }
    for first, second in examples.compared:
        a, b = values[first], values[second]
        limit = LAST_DIGIT * np.fmax(a.abs(), b.abs()) if rounding is None else rounding
        parts[first, second] = (a - b).mask((a - b).abs() <= limit, 0.0)
    return Column(name, is_higher_better, rounding is None, parts)


def _guards(examples: Examples) -> list[Column]:
    """The columns of `Comparison.guards`."""
    base, _ = examples.compared[0]
    copied = examples.described("copied_density").mask(is_broken(examples.tables[base]))
    return [
        _column(examples, "blank", examples.described("blank")),
        _column(examples, "copied_density", copied),
        _column(examples, "undefined", examples.values[examples.measures[0]].isna() * 1.0),
    ]


def _intervals(examples: Examples, columns: Sequence[Column]) -> Mapping[Any, Interval]:
    """The intervals of all values, by column and names. They are computed together, because drawing resamples
    is slow.
    """
    parts: dict[Any, pd.Series] = {
        (column, *names): part for column in columns for names, part in column.values.items()
    }
    of_others = {key for key in parts if key[0].is_of_others}
    return intervals(examples.units, parts, of_others=of_others)


def _pairs(
    examples: Examples, column: Column, around: Mapping[Any, Interval]
) -> list[dict[str, Any]]:
    """The rows of `Comparison.pairs` of a column; ``why_not`` is empty.

    Args:
        examples: what is compared.
        column: its values.
        around: see `_intervals`.
    """
    rows: list[dict[str, Any]] = []
    for first, second in examples.compared:
        known = column.values[first, second].notna().to_numpy()
        difference = column.values[first, second].to_numpy()[known]
        codes = group_codes(np.asarray(examples.units)[known], len(difference))
        sums = group_sums(difference, codes)
        above, below = int((difference > 0).sum()), int((difference < 0).sum())
        wins = {True: (above, below), False: (below, above), None: (None, None)}
        p_value = math.nan
        if len(difference):
            p_value = approximate_randomization(difference, np.zeros_like(difference), groups=codes)
        mean = around[column, first, second]
        rows.append(
            {
                "measure": column.name,
                "system_a": first,
                "system_b": second,
                "better_score": None,
                "why_not": "",
                "mean_a": around[column, first].mean,
                "mean_b": around[column, second].mean,
                "difference": mean.mean,
                "low": mean.low,
                "high": mean.high,
                "p_value": p_value,
                "p_holm": p_value,
                "a_better": wins[column.is_higher_better][0],
                "ties": len(difference) - above - below,
                "b_better": wins[column.is_higher_better][1],
                "examples": len(difference),
                "left_out": int((~known).sum()),
                "units": len(sums),
                "units_differing": int(np.count_nonzero(sums)),
            }
        )
    if rows[0]["examples"]:
        for row, p_holm in zip(rows, holm([row["p_value"] for row in rows]), strict=True):
            row["p_holm"] = float(p_holm)
            is_significant = is_difference(row["low"], row["high"], p_holm)
            if is_significant and column.is_higher_better is not None:
                is_first = (row["difference"] > 0) == column.is_higher_better
                row["better_score"] = row["system_a" if is_first else "system_b"]
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


def _rounding(definition: Measure | None, examples: Examples) -> Floats | None:
    """How far two equal scores of each example can differ by rounding, (examples,); ``None`` for a
    column of others.
    """
    if definition is None:
        return None
    if definition.kind != "count":
        return np.full(examples.examples, LAST_DIGIT)
    most: Floats = examples.described("tokens").max(axis=1).fillna(1.0).clip(lower=1.0).to_numpy()
    return (GRADED_DIGIT if "graded_alarms" in definition.needs else LAST_DIGIT) * most
