"""Is one system better than another? A paired test on scores of the same examples.

Approximate randomization (Noreen 1989; Riezler & Maxwell 2005) asks about the mean difference, first
minus second; p-values are two-sided, and never 0.

Examples of one group, such as the summaries of one source, are not independent. With ``groups``,
randomization swaps whole groups; without them, each example is a separate group.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from estime_metric.checks import integer
from estime_metric.table.arrays import Codes, Floats, alike, finite, group_codes

LEVEL = 0.05  # a p-value below this is called a difference
_ENUMERATED = 16  # differences other than 0 up to which all swaps are tried: 65,536 of them
_TOGETHER = 4_000_000  # numbers drawn together: 32 MB of float64
_ROUNDING = 1e-12  # sums that differ by less than this fraction of all differences are equal


def approximate_randomization(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: Iterable[Hashable] | None = None,
    n: int = 10_000,
    seed: int = 0,
) -> float:
    """The two-sided p-value of approximate randomization: how often do random swaps of the two
    systems give as large a mean difference?

    A swap exchanges the two scores of every example of a group. If at most 16 groups differ, every
    swap is tried and the p-value is exact.

    Args:
        first, second: scores of shape (examples,), at least one.
        groups: the group of each example, such as its source, in the same order; any hashable
            values. If omitted, each example is a separate group.
        n, seed: the number of random swaps, and their seed.

    Raises:
        TypeError: the scores are not numbers, or a group is not hashable.
        ValueError: the lengths differ, there is no example, a score is not finite, or ``n`` is
            below 1.

    Example:
        >>> approximate_randomization([1, 2, 3], [0, 0, 0])  # 2 of 8 swaps give a sum of 6 or -6
        0.25
        >>> approximate_randomization([1, 2, 3], [0, 0, 0], groups=["x", "x", "y"])
        0.5
    """
    a, b = alike(1, first=first, second=second)
    if not len(a):
        raise ValueError("Expected at least one example, but got none.")
    differences = a - b
    codes = group_codes(groups, len(differences))
    integer("n", n, 1)
    sums = _group_sums(differences, codes)
    moving = sums[sums != 0]
    sizes = np.bincount(codes, np.abs(differences))[sums != 0]
    least = abs(moving.sum()) - _ROUNDING * sizes.sum()
    if len(moving) <= _ENUMERATED:
        swaps = np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1
        drawn = (1 - 2 * swaps) @ moving
        return float((np.abs(drawn) >= least).mean())
    rng, step = np.random.default_rng(seed), max(1, _TOGETHER // len(moving))
    as_large = 0
    for start in range(0, n, step):  # memory does not grow with n
        signs = 1.0 - 2 * rng.integers(2, size=(min(step, n - start), len(moving)))
        as_large += int((np.abs(signs @ moving) >= least).sum())
    return (1 + as_large) / (n + 1)


@dataclass(frozen=True)
class PairedComparison:
    """Two systems' scores of the same examples.

    Attributes:
        examples: how many have a score of both; all other attributes describe these.
        left_out: how many do not.
        groups: how many groups the examples form; as many as examples if no groups were given.
        groups_differing: in how many groups the scores of the two systems have different sums.
        mean_first, mean_second: means; NaN without examples.
        difference: mean difference, first minus second, with scores within the tolerance made
            equal: what was tested.
        better_first, ties, better_second: in how many examples the first system has the better score,
            both are equal, and the second has the better one.
        p_value: two-sided p-value of approximate randomization; NaN without examples.
    """

    examples: int
    left_out: int
    groups: int
    groups_differing: int
    mean_first: float
    mean_second: float
    difference: float
    better_first: int
    ties: int
    better_second: int
    p_value: float


def compare_paired(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    higher_is_better: bool,
    groups: Iterable[Hashable] | None = None,
    tolerance: npt.ArrayLike = 0.0,
    n: int = 10_000,
    seed: int = 0,
) -> PairedComparison:
    """Means, wins and the paired test of two systems' scores of the same examples, shape
    (examples,).

    An example with a NaN score is excluded. ``higher_is_better`` is the direction of the scores; two
    scores that differ by at most the ``tolerance``, a number or one per example, count as equal, in
    the test too. The other options and errors are as in `approximate_randomization`, except that
    there may be no example.

    Example:
        >>> comparison = compare_paired([3, 4, float("nan"), 5], [0, 0, 0, 5], higher_is_better=False)
        >>> comparison.examples, comparison.left_out, comparison.mean_first, comparison.better_second, comparison.ties
        (3, 1, 4.0, 2, 1)
        >>> comparison.p_value  # 2 of the 4 swaps of the examples that differ
        0.5
    """
    a, b = (np.asarray(side, dtype=np.float64) for side in (first, second))
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"Expected arguments `first` and `second` to have the same length, but got {a.shape}, {b.shape}."
        )
    integer("n", n, 1)
    known = ~(np.isnan(a) | np.isnan(b))
    codes = group_codes(groups, len(a))[known]
    tolerances = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), a.shape)[known]
    a, b = a[known], b[known]
    mean_first, mean_second = _mean(a), _mean(b)
    b = equalized(a, b, tolerances)
    p_value = math.nan
    if len(a):
        p_value = approximate_randomization(a, b, groups=codes, n=n, seed=seed)
    sums = _group_sums(a - b, group_codes(codes, len(codes)))
    higher, lower = int((a > b).sum()), int((a < b).sum())
    return PairedComparison(
        examples=len(a),
        left_out=int((~known).sum()),
        groups=len(sums),
        groups_differing=int(np.count_nonzero(sums)),
        mean_first=mean_first,
        mean_second=mean_second,
        difference=_mean(a - b),
        better_first=higher if higher_is_better else lower,
        ties=int((a == b).sum()),
        better_second=lower if higher_is_better else higher,
        p_value=p_value,
    )


def equalized(first: Floats, second: Floats, tolerance: npt.ArrayLike) -> Floats:
    """The scores of the second system; those within the ``tolerance`` of the first one's are equal
    to them.
    """
    return np.where(np.abs(first - second) <= tolerance, first, second)


def _mean(values: Floats) -> float:
    return math.fsum(values) / len(values) if len(values) else math.nan


def holm(p_values: npt.ArrayLike) -> Floats:
    """P-values corrected for the number of tests (Holm 1979).

    Example:
        >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
        [0.03, 0.06, 0.06]
    """
    p = finite("p_values", p_values, 1)
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return corrected


def _group_sums(differences: Floats, codes: Codes) -> Floats:
    """The sum of the differences of each group, (groups,); 0 if only rounding is left."""
    sums = np.bincount(codes, differences)
    sizes = np.bincount(codes, np.abs(differences))
    return np.where(np.abs(sums) > _ROUNDING * sizes, sums, 0.0)
