"""Does one measure agree better with the judgements than another does? Paired tests on the same
summaries.

`bootstrap_difference` resamples documents, systems or both, as the intervals do. `williams_test`
treats the items as independent draws from a normal distribution, which summaries of one document are
not (Williams 1959; Graham & Baldwin 2014).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from estime_metric.checks import check_choice
from estime_metric.studies.meta.concordance import METHODS
from estime_metric.studies.meta.correlations import (
    LEVELS,
    UndefinedCorrelationError,
    defined,
)
from estime_metric.studies.meta.grid import Grid, arrays_of
from estime_metric.studies.meta.resampling import draw, resampled
from estime_metric.table.arrays import Floats
from estime_metric.table.intervals import interval_of
from estime_metric.table.significance import holm

#: The levels and methods of `williams_test`.
WILLIAMS_LEVELS, WILLIAMS_METHODS = ("system", "summary"), ("pearson", "spearman")
WILLIAMS_ITEMS = 4  # systems or summaries that it needs at least

_ROUNDING = 1e-12  # differences of correlations below this are rounding

_DIFFERENCES = [
    "first",
    "second",
    "judgement",
    "level",
    "method",
    "first_value",
    "second_value",
    "difference",
    "low",
    "high",
    "p_value",
    "p_holm",
    "note",
]


class Difference(NamedTuple):
    """Two measures' correlations with the same judgements and first minus second, with the ends of its
    interval, NaN if the test gives none, and the two-sided ``p_value``; ``undefined`` samples are
    excluded."""

    first_value: float
    second_value: float
    difference: float
    p_value: float
    low: float = math.nan
    high: float = math.nan
    undefined: int = 0


def bootstrap_difference(
    first: Grid,
    second: Grid,
    *,
    level: str,
    method: str,
    resample: str = "both",
    n: int = 1000,
    seed: int = 0,
) -> Difference:
    """95% interval of the difference of two measures' correlations, first minus second, and its
    two-sided p-value: twice the share of resamples whose difference has the other sign or none.
    ``first`` and ``second`` have the same judgements of the same summaries (ValueError if not),
    ``level`` and ``method`` are one of `LEVELS` and of `METHODS`; the other arguments are as for
    `bootstrap`. UndefinedCorrelationError if one of the correlations has no value."""
    values = _values(first, second, level, method)
    samples = draw(first.scores.shape, resample, n, seed)
    drawn = [resampled(grid, samples, [level], [method])[level][0] for grid in (first, second)]
    differences = drawn[0] - drawn[1]
    around = interval_of(differences)
    p_value = p_of_sign(differences[~np.isnan(differences)], _ROUNDING)
    return Difference(*values, p_value, around.low, around.high, n - around.count)


def p_of_sign(drawn: Floats, slack: float = 0.0) -> float:
    """Two-sided p-value of resampled differences: twice the share on the smaller side of 0, with 0
    on both sides; NaN without a difference.
    """
    if not len(drawn):
        return math.nan
    side = min(int((drawn <= slack).sum()), int((drawn >= -slack).sum()))
    return min(1.0, 2 * (1 + side) / (len(drawn) + 1))


def williams_test(
    first: Grid, second: Grid, *, level: str = "system", method: str = "pearson"
) -> Difference:
    """Williams test of two measures' correlations with the judgements; grids and errors as in
    `bootstrap_difference`. The level is ``"system"`` or ``"summary"``, the method ``"pearson"``, or
    ``"spearman"`` as an approximation. UndefinedCorrelationError also for fewer than four systems or
    summaries, and for measures that are exact opposites."""
    check_choice("level", level, WILLIAMS_LEVELS)
    check_choice("method", method, WILLIAMS_METHODS)
    values = _values(first, second, level, method)
    items = first.scores.shape[1] if level == "system" else len(first.cells)
    between = defined(first.scores, second.scores, level, method)
    return Difference(*values, williams(*values[:2], between, items).p_value)


class Williams(NamedTuple):
    """The statistic of the Williams test, positive if the first correlation is higher, and its
    two-sided p-value.
    """

    t: float
    p_value: float


def williams(first: float, second: float, between: float, n: int) -> Williams:
    """Williams test from three correlations (Williams 1959; Graham & Baldwin 2014): t with n - 3
    degrees of freedom, 0 of equal correlations.

    ``first`` and ``second`` correlate the measures with the judgements, ``between`` with each
    other; they rest on ``n`` items. UndefinedCorrelationError of fewer than four, and if the measures
    are exact opposites.

    Example:
        >>> test = williams(0.4, 0.5, 0.1, 103)
        >>> round(test.t, 3), round(test.p_value, 3)
        (-0.891, 0.375)
    """
    if n < WILLIAMS_ITEMS:
        raise UndefinedCorrelationError(
            f"Expected at least {WILLIAMS_ITEMS} systems or summaries for the test of Williams, but got {n}."
        )
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    if determinant < -1e-9:
        raise ValueError(
            f"Expected three correlations computed on the same table, but {first}, {second} and {between} cannot occur "
            "together."
        )
    below = (
        2 * max(determinant, 0.0) * (n - 1) / (n - 3)
        + ((first + second) / 2) ** 2 * (1 - between) ** 3
    )
    difference = 0.0 if abs(first - second) <= _ROUNDING else first - second
    above = difference * math.sqrt((n - 1) * max(1 + between, 0.0))
    if difference and not above and not below:
        raise UndefinedCorrelationError(
            f"Expected measures that are not exact opposites, but got {first}, {second}, {between}, "
            "for which the Williams test is undefined."
        )
    t = 0.0
    if above:
        t = above / math.sqrt(below) if below else math.copysign(math.inf, above)
    return Williams(t=t, p_value=float(2 * stats.t.sf(abs(t), n - 3)))


#: Paired tests of `compare_all`.
TESTS: dict[str, Callable[..., Difference]] = {
    "bootstrap": bootstrap_difference,
    "williams": williams_test,
}


def compare_all(
    grids: Sequence[Grid],
    *,
    test: str = "bootstrap",
    levels: Sequence[str] = tuple(LEVELS),
    methods: Sequence[str] = ("kendall_b",),
    **options: Any,
) -> pd.DataFrame:
    """A paired test of every two measures with the same judgements; a grid for each measure and
    judgement.

    Args:
        test: ``"bootstrap"`` or ``"williams"``.
        levels, methods: some of `LEVELS` and of `METHODS`; Williams' test has those listed in
            `williams_test`.
        options: of the test.

    Returns:
        One row for each judgement, level, method and pair: ``first``, ``second``, ``judgement``,
        ``level``, ``method``, ``first_value``, ``second_value``, ``difference``, ``low``, ``high``
        (bootstrap only), ``p_value``, and ``p_holm``, corrected by Holm's method for the pairs of
        that judgement, level and method. Summaries that one of the two measures lacks are excluded,
        and ``note`` says how many remain. If the test has no result, ``note`` says why and the
        numbers are NaN.
    """
    check_test(test, levels, methods)
    rows = []
    for judgement in dict.fromkeys(grid.judgement for grid in grids):
        rivals = [grid for grid in grids if grid.judgement == judgement]
        pairs = [_in_common(*pair) for pair in itertools.combinations(rivals, 2)]
        for level, method, (first, second, note) in itertools.product(levels, methods, pairs):
            names: dict[str, Any] = {
                "first": first.measure,
                "second": second.measure,
                "judgement": judgement,
                "level": level,
                "method": method,
            }
            try:
                result = TESTS[test](first, second, level=level, method=method, **options)
            except UndefinedCorrelationError as error:
                rows.append({**names, "note": str(error)})
            else:
                rows.append({**names, **result._asdict(), "note": note})
    table = pd.DataFrame(rows, columns=_DIFFERENCES)
    for _, together in table.dropna(subset="p_value").groupby(["judgement", "level", "method"]):
        table.loc[together.index, "p_holm"] = holm(together["p_value"])
    return table


def check_test(test: str, levels: Sequence[str], methods: Sequence[str]) -> None:
    """Raises ValueError unless ``test`` exists, and has these levels and methods."""
    check_choice("test", test, TESTS)
    is_williams = test == "williams"
    for level in levels:
        check_choice("levels", level, WILLIAMS_LEVELS if is_williams else LEVELS)
    for method in methods:
        check_choice("methods", method, WILLIAMS_METHODS if is_williams else METHODS)


def _in_common(first: Grid, second: Grid) -> tuple[Grid, Grid, str]:
    """Two grids of the summaries that both have, and a note if one of them has more."""
    cells = [grid.cells for grid in (first, second)]
    known = cells[0].index[cells[0].index.isin(cells[1].index)]
    if len(known) == len(cells[0]) == len(cells[1]):
        return first, second, ""
    one, other = (
        replace(grid, **arrays_of(table.loc[known]))
        for grid, table in zip((first, second), cells, strict=True)
    )
    note = f"{first.measure} and {second.measure}: {len(known)} summaries in common"
    return one, other, note


def _values(first: Grid, second: Grid, level: str, method: str) -> tuple[float, float, float]:
    """The correlations of two measures with the same judgements, and their difference."""
    if (first.documents, first.systems) != (second.documents, second.systems) or not np.array_equal(
        first.judgements, second.judgements, equal_nan=True
    ):
        raise ValueError(
            f"Expected both measures to have the same judgements of the same summaries in the same order, but "
            f"{first.measure!r} and {second.measure!r} do not."
        )
    one, other = (defined(grid.scores, grid.judgements, level, method) for grid in (first, second))
    return one, other, one - other
