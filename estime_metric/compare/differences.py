"""The examples of several systems -> their comparison, in three data frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.compare.examples import PROPERTIES, Examples, match_examples
from estime_metric.compare.request import Request
from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import TEMPERATURE, Measure
from estime_metric.table.arrays import Floats, group_codes
from estime_metric.table.intervals import DECIMALS, Interval, intervals
from estime_metric.table.rows import Layout
from estime_metric.table.significance import (
    approximate_randomization,
    group_sums,
    holm,
    is_difference,
)

#: If the coverages of two systems differ by more than this, measures that judge only checked tokens
#: cannot compare them. This limit is our choice; no study chose it.
COVERAGE_GAP = 0.25

#: If the summaries of one system are more than this many times as long as those of another, counts
#: cannot compare the two, and the shorter one is never the better one: a single word of the source is
#: consistent with it. This limit is our choice too.
LENGTH_RATIO = 4.0

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
            - ``better``: the system with the significantly better value: the interval of the difference
              excludes 0, and ``p_holm`` is below 0.05. ``None`` if there is none, if the measure cannot
              compare the two, or if its direction is not known;
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
    """

    systems: pd.DataFrame
    means: pd.DataFrame
    pairs: pd.DataFrame

    def ranking(self, measure: str) -> list[str]:
        """The systems from the best mean of a measure to the worst, then the systems that the measure
        cannot compare; from the lowest mean to the highest if its direction is not known. ValueError for
        a measure that was not compared.
        """
        check_choice("measure", measure, self.measures)
        sign = -1.0 if self.higher_is_better[measure] else 1.0
        means = self.means[self.means["measure"] == measure].set_index("system")["mean"]

        def place(name: str) -> tuple[bool, float]:
            is_unfit = bool(_why_not(self.definitions[measure], None, self.systems.loc[name]))
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
        >>> comparison.pairs[["better", "mean_a", "mean_b", "p_value"]]
          better  mean_a  mean_b   p_value
        0    old     0.5   2.625  0.015625
    """
    request = Request(
        baseline=baseline,
        measures=measures,
        higher=higher,
        lower=lower,
        id_column=id_column,
        layout=Layout(source_column=source_column, summary_column=summary_column),
    )
    return compare_systems(systems, request)


def compare_systems(systems: Mapping[str, pd.DataFrame], request: Request) -> Comparison:
    """As `compare_scores`, with its arguments as one object."""
    examples = match_examples(systems, request)
    described = _described(examples)
    means, pairs = [], []
    for measure, definition in examples.definitions.items():
        around, rows = differences(
            examples,
            examples.values[measure],
            is_higher_better=examples.higher_is_better[measure],
            rounding=_rounding(definition, examples),
        )
        for name, mean in around.items():
            means.append({"measure": measure, "system": name, **vars(mean)})
        for row in rows:
            sides = described.loc[row["system_a"]], described.loc[row["system_b"]]
            if why_not := _why_not(definition, row["better"], *sides):
                row |= {"better": None, "why_not": why_not}
            pairs.append({"measure": measure, **row})
    as_frame = pd.DataFrame(pairs)
    for name in ("better", "a_better", "b_better"):  # None stays None, and counts stay integers
        as_frame[name] = pd.Series([row[name] for row in pairs], dtype=object)
    return Comparison(
        **vars(examples), systems=described, means=pd.DataFrame(means), pairs=as_frame
    )


def differences(
    examples: Examples,
    scores: pd.DataFrame,
    *,
    is_higher_better: bool | None,
    rounding: Floats | float | None,
) -> tuple[dict[str, Interval], list[dict[str, Any]]]:
    """The mean of each system, and the rows of `Comparison.pairs` for one measure, without its name;
    ``why_not`` is empty.

    Args:
        examples: what the scores are of.
        scores: one column per system. An example without a value of one of them is excluded for all.
        is_higher_better: the direction.
        rounding: how far two equal scores of each example can differ, (examples,), if they have six
            decimals; ``None`` for numbers of others, which can have any size.
    """
    known = scores.notna().all(axis=1).to_numpy()
    values = {name: scores[name].where(known).to_numpy() for name in scores}
    by_pair = {}
    for first, second in examples.compared:
        a, b = values[first], values[second]
        limit = LAST_DIGIT * np.fmax(np.abs(a), np.abs(b)) if rounding is None else rounding
        by_pair[first, second] = np.where(np.abs(a - b) <= limit, 0.0, a - b)
    decimals = None if rounding is None else DECIMALS
    means = intervals(examples.units, values, decimals=decimals)
    around = intervals(examples.units, by_pair, decimals=decimals)
    codes = group_codes(np.asarray(examples.units)[known], int(known.sum()))
    rows: list[dict[str, Any]] = []
    for (first, second), of_all in by_pair.items():
        difference = of_all[known]
        sums = group_sums(difference, codes)
        above, below = int((difference > 0).sum()), int((difference < 0).sum())
        wins = {True: (above, below), False: (below, above), None: (None, None)}[is_higher_better]
        p_value = math.nan
        if len(difference):
            p_value = approximate_randomization(difference, np.zeros_like(difference), groups=codes)
        rows.append(
            {
                "system_a": first,
                "system_b": second,
                "better": None,
                "why_not": "",
                "mean_a": _mean(values[first][known]),
                "mean_b": _mean(values[second][known]),
                "difference": _mean(difference),
                "low": around[first, second].low,
                "high": around[first, second].high,
                "p_value": p_value,
                "p_holm": p_value,
                "a_better": wins[0],
                "ties": len(difference) - above - below,
                "b_better": wins[1],
                "examples": len(difference),
                "left_out": int((~known).sum()),
                "units": len(sums),
                "units_differing": int(np.count_nonzero(sums)),
            }
        )
    if known.any():
        for row, p_holm in zip(rows, holm([row["p_value"] for row in rows]), strict=True):
            row["p_holm"] = float(p_holm)
            if is_higher_better is not None and is_difference(row["low"], row["high"], p_holm):
                is_first = (row["difference"] > 0) == is_higher_better
                row["better"] = row["system_a" if is_first else "system_b"]
    return means, rows


def _described(examples: Examples) -> pd.DataFrame:
    """`Comparison.systems`."""
    blank = examples.properties["blank"].sum(min_count=1)
    return pd.DataFrame(
        {
            "summaries": examples.examples,
            "blank": blank if blank.isna().any() else blank.astype(int),
            "skipped": pd.Series(examples.skipped),
            **{measure: examples.properties[measure].mean() for measure in PROPERTIES},
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
    most: Floats = examples.properties["tokens"].max(axis=1).fillna(1.0).clip(lower=1.0).to_numpy()
    return (GRADED_DIGIT if "graded_alarms" in definition.needs else LAST_DIGIT) * most


def _mean(values: Floats) -> float:
    return math.fsum(values) / len(values) if len(values) else math.nan


def _why_not(definition: Measure | None, better: str | None, *systems: pd.Series) -> str:
    """Why a measure cannot compare two systems, as the end of a sentence, or one system with any other;
    empty if it can.

    Args:
        definition: the measure. One that does not judge, and a column of others, can always be
            compared.
        better: the system with the significantly better value, if any.
        systems: rows of `Comparison.systems`.
    """
    if definition is None or definition.higher_is_better is None:
        return ""
    reasons = []
    for system in systems:
        if definition.kind == "count" and 2 * system["blank"] > system["summaries"]:
            reasons.append(
                f"{system['blank']:.0f} of {system['summaries']:.0f} summaries of {system.name} are blank"
            )
        elif definition.checked_only and system["coverage"] < LOW_COVERAGE:
            reasons.append(f"only {_checked(system)} were checked")
    if reasons or len(systems) == 1:
        return " and ".join(reasons)
    shorter, longer = sorted(systems, key=lambda system: system["tokens"])
    if definition.checked_only and abs(longer["coverage"] - shorter["coverage"]) > COVERAGE_GAP:
        return f"{_checked(systems[0])} and {_checked(systems[1])} were checked"
    is_much_shorter = longer["tokens"] > LENGTH_RATIO * shorter["tokens"]
    if is_much_shorter and (definition.kind == "count" or better == shorter.name):
        return (
            f"{shorter.name} has {shorter['tokens']:.1f} tokens per summary and {longer.name} "
            f"{longer['tokens']:.1f}"
        )
    return ""


def _checked(system: pd.Series) -> str:
    return f"{system['coverage']:.0%} of the tokens of {system.name}"
