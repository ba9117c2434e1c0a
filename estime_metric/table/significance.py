"""Is one system better than another? A paired test on scores of the same examples.

Approximate randomization (Noreen 1989; Riezler & Maxwell 2005) asks about the mean difference, first
minus second; p-values are two-sided, and never 0.

Examples of one group, such as the summaries of one source, are not independent. With ``groups``,
randomization swaps whole groups; without them, each example is a separate group.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt

from estime_metric.checks import integer
from estime_metric.table.arrays import Codes, Floats, alike, finite, group_codes

LEVEL = 0.05  # a p-value below this is called a difference

#: If fewer groups differ, no p-value is below `LEVEL`: of k, the least one is 2 / 2 ** k.
LEAST_GROUPS = math.ceil(1 - math.log2(LEVEL))

SWAPS, SEED = 10_000, 0
_ENUMERATED = 16  # differences other than 0 up to which all swaps are tried: 65,536 of them
_TOGETHER = 4_000_000  # numbers drawn together: 32 MB of float64
_ROUNDING = 1e-12  # sums that differ by less than this fraction of all differences are equal


def approximate_randomization(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: Iterable[Hashable] | None = None,
    n: int = SWAPS,
    seed: int = SEED,
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
    sums = group_sums(differences, codes)
    moving = sums[sums != 0]
    sizes = np.bincount(codes, np.abs(differences))[sums != 0]
    least = abs(moving.sum()) - _ROUNDING * sizes.sum()
    if len(moving) <= _ENUMERATED:
        every_swap = np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1
        drawn = (1 - 2 * every_swap) @ moving
        return float((np.abs(drawn) >= least).mean())
    total = moving.sum()
    rng, step = np.random.default_rng(seed), 2 * max(1, _TOGETHER // 2 // len(moving))
    as_large = 0
    for start in range(0, n, step):  # memory does not grow with n
        swaps = _swaps(rng, min(step, n - start), len(moving))
        swapped = np.einsum(
            "ij,j->i", swaps, moving
        )  # threads of BLAS would wait in vain in between
        as_large += int((np.abs(total - 2 * swapped) >= least).sum())
    return (1 + as_large) / (n + 1)


def _swaps(rng: np.random.Generator, n: int, groups: int) -> npt.NDArray[np.bool_]:
    """Whether each group is swapped, (n, groups): what ``rng.integers(2)`` gives, in a third of the time. It
    is the highest bit, that of the sign, of each half of 64 random ones.
    """
    random = rng.integers(2**64 - 1, size=(n * groups + 1) // 2, dtype=np.uint64, endpoint=True)
    return (random.view(np.int32)[: n * groups] < 0).reshape(n, groups)


def group_sums(differences: Floats, codes: Codes) -> Floats:
    """The sum of the differences of each group, (groups,); 0 if only rounding is left."""
    sums = np.bincount(codes, differences)
    sizes = np.bincount(codes, np.abs(differences))
    return np.where(np.abs(sums) > _ROUNDING * sizes, sums, 0.0)


def is_difference(low: float, high: float, p_value: float) -> bool:
    """Whether a mean difference is called one: its 95% interval excludes 0, and its corrected p-value is
    below `LEVEL`. Never if an end is NaN.

    Example:
        >>> is_difference(0.1, 0.3, 0.01), is_difference(-0.001, 0.029, 0.047)
        (True, False)
    """
    return bool(p_value < LEVEL and (low > 0 or high < 0))


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
