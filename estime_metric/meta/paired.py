"""Is one of two systems better? Paired tests on the scores that both got for the same examples.

Both ask about the mean difference, first minus second. The bootstrap draws examples with replacement (Koehn 2004) and
so gives an interval too; approximate randomisation swaps the two scores of an example by the toss of a coin (Noreen
1989; Riezler & Maxwell 2005), which asks less of the data. P-values are two-sided, and never 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from estime_metric.meta.checks import Floats, check_at_least, check_share, finite

#: Differences other than 0 up to which all swaps are tried: 65,536 of them.
_ENUMERATED = 16

#: Numbers drawn at once: 32 MB of float64.
_TOGETHER = 4_000_000

#: Sums that differ by less than this share of all differences are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairedTest:
    """What a paired test found.

    Attributes:
        difference: mean of the first less mean of the second.
        p_value: two-sided.
        low, high: interval of the difference; ``None`` where the test gives none.
        trials: resamples or swaps that were tried.
        exact: all swaps were tried, none at random.
    """

    difference: float
    p_value: float
    trials: int
    low: float | None = None
    high: float | None = None
    exact: bool = False


def paired_bootstrap(
    first: npt.ArrayLike, second: npt.ArrayLike, *, n: int = 10_000, confidence: float = 0.95, seed: int = 0
) -> PairedTest:
    """Paired bootstrap: interval and p-value of the mean difference.

    The p-value is that of the interval: twice the share of resamples whose difference has the other sign or none, so
    it is below 0.05 where the 95 % interval leaves 0 out.

    Args:
        first: scores of one system, shape (examples,).
        second: scores of the other for the same examples.
        n: number of resamples.
        confidence: share of the resamples within the interval.
        seed: of the random numbers.

    Raises:
        TypeError, ValueError: no numbers, NaN, other lengths, no example, or a bad option; the message names it.
    """
    differences = _differences(first, second)
    check_at_least("n", n, 1)
    check_share("confidence", confidence)
    size = len(differences)

    def draw(rng: np.random.Generator, rows: int) -> Floats:
        return np.asarray(differences[rng.integers(size, size=(rows, size))].mean(axis=1))

    drawn = _draws(draw, n, size, seed)
    slack = _ROUNDING * float(np.abs(differences).mean())
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return PairedTest(float(differences.mean()), p_of_sign(drawn, slack), n, float(low), float(high))


def approximate_randomization(
    first: npt.ArrayLike, second: npt.ArrayLike, *, n: int = 10_000, seed: int = 0
) -> PairedTest:
    """Approximate randomisation: how often do random swaps within examples give as large a mean difference?

    Where at most 16 examples differ, every swap is tried and the p-value is exact. Arguments and errors as in
    `paired_bootstrap`.

    Example:
        >>> approximate_randomization([1, 2, 3], [0, 0, 0])  # 2 of 8 swaps give a sum of 6 or -6
        PairedTest(difference=2.0, p_value=0.25, trials=8, low=None, high=None, exact=True)
    """
    differences = _differences(first, second)
    check_at_least("n", n, 1)
    moving = differences[differences != 0]
    found = float(differences.mean())
    least = abs(moving.sum()) - _ROUNDING * np.abs(moving).sum()
    if len(moving) <= _ENUMERATED:
        swaps = np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1
        drawn = (1 - 2 * swaps) @ moving
        return PairedTest(found, float((np.abs(drawn) >= least).mean()), len(drawn), exact=True)

    def draw(rng: np.random.Generator, rows: int) -> Floats:
        return np.asarray((1.0 - 2 * rng.integers(2, size=(rows, len(moving)))) @ moving)

    drawn = _draws(draw, n, len(moving), seed)
    return PairedTest(found, float((1 + (np.abs(drawn) >= least).sum()) / (n + 1)), n)


def p_of_sign(drawn: Floats, slack: float = 0.0) -> float:
    """Two-sided p-value of resampled differences: twice the share on the smaller side of 0, with 0 on both sides.

    >>> p_of_sign(np.array([1.0, 2.0, -1.0]))  # (1 + 1) / (3 + 1), twice
    1.0
    """
    side = min(int((drawn <= slack).sum()), int((drawn >= -slack).sum()))
    return min(1.0, 2 * (1 + side) / (len(drawn) + 1))


def _differences(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    a, b = finite("first", first, 1), finite("second", second, 1)
    if len(a) != len(b):
        raise ValueError(f"Expected arguments `first` and `second` to be of one length, but got {len(a)} and {len(b)}.")
    if not len(a):
        raise ValueError("Expected at least one example, but got none.")
    return a - b


def _draws(draw: Callable[[np.random.Generator, int], Floats], n: int, size: int, seed: int) -> Floats:
    """n draws, so many together that memory does not grow with their number."""
    rng, step = np.random.default_rng(seed), max(1, _TOGETHER // size)
    return np.concatenate([draw(rng, min(step, n - first)) for first in range(0, n, step)])
