"""Partial correlations that control for a categorical variable, under weights: what a resample of
documents gives.

The residuals of a regression on one indicator for each category are the values minus the mean of
their category. For Spearman, the values are first replaced by their mid-ranks among all items.

Axes: n weightings, k items, g categories.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from estime_metric.studies.meta.ranks import by_class, dense, mid_ranks, ratio
from estime_metric.table.arrays import Floats, group_codes

METHODS = ("pearson", "spearman")
#: A share of the spread that rounding leaves if all residuals are equal.
_ROUNDING = 1e-18


def partial_correlation(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    categories: Sequence[str] | None = None,
    *,
    method: str = "pearson",
) -> float:
    """Correlation of two columns of k numbers that controls for the category of each item, if there
    is one.

    NaN if a column is constant within every category.

    Example:
        >>> x, y, system = [1, 2, 11, 12], [2, 1, 21, 23], ["A", "A", "B", "B"]
        >>> round(partial_correlation(x, y), 2), round(partial_correlation(x, y, system), 2)
        (0.99, 0.32)
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    codes = group_codes([""] * len(x) if categories is None else categories, len(x))
    return float(weighted_partial(np.ones((1, len(x))), x, y, codes, method)[0])


def weighted_partial(
    weights: Floats, first: Floats, second: Floats, categories: npt.NDArray[np.int64], method: str
) -> Floats:
    """As `partial_correlation`, for several samples together: float64 of shape (n,), NaN if a
    sample has no value.

    ``weights``, (n, k), say how often each sample contains each item; ``categories`` are numbers
    from 0, of shape (k,).
    """
    x, y = (
        _residuals(weights, _ranked(weights, values, method), categories)
        for values in (first, second)
    )
    products, x_squares, y_squares = (
        (weights * left * right).sum(axis=1) for left, right in ((x, y), (x, x), (y, y))
    )
    defined = (x_squares > _ROUNDING * len(first)) & (y_squares > _ROUNDING * len(first))
    return np.clip(ratio(products, np.sqrt(x_squares * y_squares), defined), -1, 1)


def _ranked(weights: Floats, values: Floats, method: str) -> Floats:
    """The values, or their mid-ranks in each sample; scaled to a spread of about 1; (k,) or (n, k)."""
    if method == "pearson":
        centered: Floats = values - values.mean() if len(values) else values
        return centered / (np.abs(centered).max(initial=0.0) or 1.0)
    codes = dense(values)
    ranks: Floats = mid_ranks(by_class(weights, codes), codes)
    return ranks / max(1, len(values))


def _residuals(weights: Floats, values: Floats, categories: npt.NDArray[np.int64]) -> Floats:
    """Values less the weighted mean of their category, (n, k)."""
    indicator = np.eye(int(categories.max(initial=0)) + 1)[categories]  # (k, g)
    counted = weights @ indicator
    means = ((weights * values) @ indicator) / np.where(counted > 0, counted, 1)
    residuals: Floats = values - means[:, categories]
    return residuals
