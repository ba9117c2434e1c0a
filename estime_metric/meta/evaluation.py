"""Several measures and judgements at once: one tidy table of agreement, one of the differences between measures."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from estime_metric.inputs import check_choice
from estime_metric.meta.concordance import METHODS
from estime_metric.meta.correlations import LEVELS, UndefinedCorrelationError
from estime_metric.meta.grid import Grid
from estime_metric.meta.paired import holm
from estime_metric.meta.resampling import bootstrap
from estime_metric.meta.significance import Difference, bootstrap_difference, permutation_test, williams_test

#: Paired tests of `compare_all`.
TESTS = ("permutation", "bootstrap", "williams")

_AGREEMENT = ["measure", "judgement", "level", "method", "value", "low", "high", "groups", "left_out", "undefined"]
_DIFFERENCES = [
    "first", "second", "judgement", "level", "method", "first_value", "second_value", "difference", "low", "high",
    "p_value", "p_holm", "note",
]  # fmt: skip


def evaluate_all(
    grids: Iterable[Grid],
    *,
    levels: Iterable[str] = tuple(LEVELS),
    methods: Iterable[str] = tuple(METHODS),
    **options: Any,
) -> pd.DataFrame:
    """The agreement of every measure with its judgements.

    Takes a grid for each measure and judgement, and the options of `bootstrap`, whose seed gives all measures the same
    resamples. Returns one row for each grid, level and method: ``measure``, ``judgement``, and `bootstrap`'s columns.
    """
    options |= {"levels": list(levels), "methods": list(methods)}
    parts = [bootstrap(grid, **options).assign(measure=grid.measure, judgement=grid.judgement) for grid in grids]
    return pd.concat(parts)[_AGREEMENT].reset_index(drop=True) if parts else pd.DataFrame(columns=_AGREEMENT)


def compare_all(
    grids: Sequence[Grid],
    *,
    test: str = "permutation",
    levels: Sequence[str] = tuple(LEVELS),
    methods: Sequence[str] = ("kendall_b",),
    **options: Any,
) -> pd.DataFrame:
    """A paired test of every two measures that stand beside the same judgements.

    Args:
        grids: one for each measure and judgement; those of one judgement hold the same summaries.
        test: ``"permutation"``, ``"bootstrap"`` or ``"williams"`` (levels ``system`` and ``summary``, methods
            ``pearson`` and ``spearman`` only).
        levels, methods: some of `LEVELS` and of `METHODS`.
        options: of `permutation_test`, `bootstrap_difference` or `williams_test`.

    Returns:
        one row for each judgement, level, method and pair: ``first``, ``second``, ``judgement``, ``level``, ``method``,
        ``first_value``, ``second_value``, ``difference``, ``low``, ``high`` (bootstrap only), ``p_value``, and
        ``p_holm``, corrected by Holm's method for the pairs of that judgement, level and method. Where one of the two
        has no value, ``note`` says so and the numbers are NaN.
    """
    check_choice("test", test, TESTS)
    tests: dict[str, Callable[..., Difference]] = dict(
        zip(TESTS, (permutation_test, bootstrap_difference, williams_test), strict=True)
    )
    rows: list[dict[str, Any]] = []
    for judgement in dict.fromkeys(grid.judgement for grid in grids):
        rivals = [grid for grid in grids if grid.judgement == judgement]
        for level, method, (first, second) in itertools.product(levels, methods, itertools.combinations(rivals, 2)):
            row = {"first": first.measure, "second": second.measure, "judgement": judgement, "note": ""}
            rows.append(row | {"level": level, "method": method})
            try:
                found = tests[test](first, second, level=level, method=method, **options)
            except UndefinedCorrelationError:
                rows[-1]["note"] = "one of the two has no value"
            else:
                rows[-1] |= {"first_value": found.first, "second_value": found.second, "difference": found.difference}
                rows[-1] |= {"low": found.low, "high": found.high, "p_value": found.p_value}
    table = pd.DataFrame(rows, columns=_DIFFERENCES)
    known = table.dropna(subset="p_value")
    for _, together in known.groupby(["judgement", "level", "method"]):
        table.loc[together.index, "p_holm"] = holm(together["p_value"])
    return table
