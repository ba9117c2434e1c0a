"""Is one system better than another? Paired tests on scores of the same examples.

Both ask about the mean difference, first minus second; p-values are two-sided, and never 0: the
bootstrap (Koehn 2004), and approximate randomization (Noreen 1989; Riezler & Maxwell 2005), eight
times as fast as scipy's.

Examples of one group, such as the summaries of one source, are not independent. With ``groups``,
the bootstrap draws whole groups, and randomization swaps whole groups; without them, each example
is a separate group.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from estime_metric.stats.checks import Floats, alike, check_share, finite
from estime_metric.stats.groups import group_codes
from estime_metric.stats.ranks import Codes
from estime_metric.validation import integer

LEVEL = 0.05  # a p-value below this is called a difference
_ENUMERATED = 16  # differences other than 0 up to which all swaps are tried: 65,536 of them
_TOGETHER = 4_000_000  # numbers drawn together: 32 MB of float64
_ROUNDING = 1e-12  # sums that differ by less than this fraction of all differences are equal


@dataclass(frozen=True)
class PairedTest:
    """What a paired test found: the ``difference`` of the means, first minus second, with the
    two-sided ``p_value`` from the number of ``trials`` (resamples or swaps; all swaps if ``exact``)
    and its interval, ``None`` if the test gives none. A bootstrap of a single group has no trials;
    its p-value and interval are NaN.
    """

    difference: float
    p_value: float
    trials: int
    low: float | None = None
    high: float | None = None
    exact: bool = False


#: The test of no example.
NOTHING = PairedTest(difference=math.nan, p_value=math.nan, trials=0, low=math.nan, high=math.nan)


def paired_bootstrap(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: Iterable[Hashable] | None = None,
    n: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> PairedTest:
    """Paired bootstrap: interval and p-value of the mean difference of two systems' scores of the
    same examples.

    A resample contains as many groups as there are, drawn with replacement, and all examples of
    each. Its mean difference is the mean over its examples. The p-value corresponds to the
    interval: twice the fraction of resamples in which the difference has the other sign or is 0.

    Args:
        first, second: scores of shape (examples,), at least one.
        groups: the group of each example, such as its source, in the same order; any hashable
            values. If omitted, each example is a separate group.
        n: the number of resamples.
        confidence: the fraction of the resamples within the interval, between 0 and 1.
        seed: of the resamples. The groups are drawn in the order in which they first occur, so
            groups of one example give the same numbers as no groups.

    Returns:
        The difference, its p-value and its interval; p-value and interval are NaN if there is only
        one group, from which nothing can be resampled.

    Raises:
        TypeError: the scores are not numbers, or a group is not hashable.
        ValueError: the lengths differ, there is no example, a score is not finite, or an option is
            out of range.
    """
    differences = _differences(first, second)
    codes = group_codes(groups, len(differences))
    integer("n", n, 1)
    check_share("confidence", confidence)
    mean = float(differences.mean())
    sums = _group_sums(differences, codes)
    if len(sums) == 1:
        return replace(NOTHING, difference=mean)
    grouped = len(sums) < len(differences)
    samples: tuple[Floats, ...] = (sums, np.bincount(codes).astype(np.float64))
    statistic: Callable[..., Any] = _ratio_of_sums
    if not grouped:  # all sizes are 1
        samples, statistic = (sums,), np.mean
    found = stats.bootstrap(
        samples,
        statistic,
        paired=grouped,
        n_resamples=n,
        confidence_level=confidence,
        method="percentile",
        batch=max(1, _TOGETHER // len(sums)),
        random_state=np.random.default_rng(seed),
    )
    slack = _ROUNDING * float(np.abs(differences).mean())
    return PairedTest(
        difference=mean,
        p_value=p_of_sign(found.bootstrap_distribution, slack),
        trials=n,
        low=float(found.confidence_interval.low),
        high=float(found.confidence_interval.high),
    )


def approximate_randomization(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: Iterable[Hashable] | None = None,
    n: int = 10_000,
    seed: int = 0,
) -> PairedTest:
    """Approximate randomization: how often do random swaps of the two systems give as large a mean
    difference?

    A swap exchanges the two scores of every example of a group. If at most 16 groups differ, every
    swap is tried and the p-value is exact. Arguments and errors are as in `paired_bootstrap`.

    Example:
        >>> approximate_randomization([1, 2, 3], [0, 0, 0])  # 2 of 8 swaps give a sum of 6 or -6
        PairedTest(difference=2.0, p_value=0.25, trials=8, low=None, high=None, exact=True)
        >>> approximate_randomization([1, 2, 3], [0, 0, 0], groups=["x", "x", "y"]).p_value
        0.5
    """
    differences = _differences(first, second)
    codes = group_codes(groups, len(differences))
    integer("n", n, 1)
    sums = _group_sums(differences, codes)
    moving = sums[sums != 0]
    sizes = np.bincount(codes, np.abs(differences))[sums != 0]
    found = float(differences.mean())
    least = abs(moving.sum()) - _ROUNDING * sizes.sum()
    if len(moving) <= _ENUMERATED:
        swaps = np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1
        drawn = (1 - 2 * swaps) @ moving
        p_value = float((np.abs(drawn) >= least).mean())
        return PairedTest(found, p_value, trials=len(drawn), exact=True)
    rng, step = np.random.default_rng(seed), max(1, _TOGETHER // len(moving))
    as_large = 0
    for start in range(0, n, step):  # memory does not grow with n
        signs = 1.0 - 2 * rng.integers(2, size=(min(step, n - start), len(moving)))
        as_large += int((np.abs(signs @ moving) >= least).sum())
    return PairedTest(found, p_value=(1 + as_large) / (n + 1), trials=n)


@dataclass(frozen=True)
class PairedComparison:
    """Two systems' scores of the same examples.

    Attributes:
        examples: how many have a score of both; all other attributes describe these.
        left_out: how many do not.
        groups: how many groups the examples form; as many as examples if no groups were given.
        groups_differing: in how many groups the scores of the two systems have different sums.
        mean_first, mean_second: means; NaN without examples.
        better_first, ties, better_second: how many examples the first wins, are equal, the second
            wins.
        bootstrap, randomization: the two tests; all NaN without examples.
        higher_is_better: the direction of the scores.
        p_value: the p-value of ``randomization``, which `compare_each` corrects for the number of
            tests.
    """

    examples: int
    left_out: int
    groups: int
    groups_differing: int
    mean_first: float
    mean_second: float
    better_first: int
    ties: int
    better_second: int
    bootstrap: PairedTest
    randomization: PairedTest
    higher_is_better: bool
    p_value: float

    @property
    def better(self) -> str | None:
        """``"first"``, ``"second"``, or ``None`` if ``p_value`` is not below 0.05."""
        if not self.p_value < LEVEL:
            return None
        return (
            "first" if (self.mean_first > self.mean_second) == self.higher_is_better else "second"
        )


def compare_paired(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    higher_is_better: bool,
    groups: Iterable[Hashable] | None = None,
    tolerance: float = 0.0,
    n: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> PairedComparison:
    """Means, wins and both paired tests of two systems' scores of the same examples, shape
    (examples,).

    An example with a NaN score is excluded. ``higher_is_better`` is the direction of the scores; two
    scores that differ by at most the ``tolerance`` count as equal, in both tests too. The other
    options are as in `paired_bootstrap`, and ``n`` is the number of random swaps, too. Errors
    are as in `paired_bootstrap`, except that there may be no example.

    Example:
        >>> found = compare_paired([3, 4, float("nan"), 5], [0, 0, 0, 5], higher_is_better=False)
        >>> found.examples, found.left_out, found.mean_first, found.better_second, found.ties
        (3, 1, 4.0, 2, 1)
        >>> found.better is None  # two examples that differ are too few
        True
    """
    a, b = (np.asarray(side, dtype=np.float64) for side in (first, second))
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"Expected arguments `first` and `second` to have the same length, but got {a.shape}, {b.shape}."
        )
    integer("n", n, 1)
    check_share("confidence", confidence)
    known = ~(np.isnan(a) | np.isnan(b))
    codes = group_codes(groups, len(a))[known]
    a, b = a[known], b[known]
    mean_first, mean_second = _mean(a), _mean(b)
    b = np.where(np.abs(a - b) <= tolerance, a, b)
    bootstrap = randomization = NOTHING
    if len(a):
        bootstrap = paired_bootstrap(a, b, groups=codes, n=n, confidence=confidence, seed=seed)
        randomization = approximate_randomization(a, b, groups=codes, n=n, seed=seed)
    sums = _group_sums(a - b, group_codes(codes, len(codes)))
    higher, lower = int((a > b).sum()), int((a < b).sum())
    return PairedComparison(
        examples=len(a),
        left_out=int((~known).sum()),
        groups=len(sums),
        groups_differing=int(np.count_nonzero(sums)),
        mean_first=mean_first,
        mean_second=mean_second,
        better_first=higher if higher_is_better else lower,
        ties=int((a == b).sum()),
        better_second=lower if higher_is_better else higher,
        bootstrap=bootstrap,
        randomization=randomization,
        higher_is_better=higher_is_better,
        p_value=randomization.p_value,
    )


def _mean(values: Floats) -> float:
    return math.fsum(values) / len(values) if len(values) else math.nan


class Places(NamedTuple):
    """Indices of two systems."""

    first: int
    second: int


def compare_each(
    scores: npt.ArrayLike, *, higher_is_better: bool, baseline: int | None = None, **options: Any
) -> dict[Places, PairedComparison]:
    """`compare_paired` of every two systems, or of a baseline with each other system: places of the
    two -> comparison, whose ``p_value`` is corrected by `holm`.

    ``scores`` are of shape (systems, examples); an example with a NaN score of any system is
    excluded for all systems. ``baseline`` is the index of a system; the options are the same as in
    `compare_paired`.

    Example:
        >>> found = compare_each([range(7), range(1, 8), range(2, 9)], higher_is_better=True)
        >>> {tuple(places): one.p_value for places, one in found.items()}  # each alone: 2 / 2 ** 7
        {(0, 1): 0.046875, (0, 2): 0.046875, (1, 2): 0.046875}
    """
    table = np.array(scores, dtype=np.float64)
    table[:, np.isnan(table).any(axis=0)] = np.nan
    if baseline is None:
        pairs = [Places(*pair) for pair in itertools.combinations(range(len(table)), 2)]
    else:
        pairs = [Places(baseline, other) for other in range(len(table)) if other != baseline]
    found = {
        places: compare_paired(
            table[places.first], table[places.second], higher_is_better=higher_is_better, **options
        )
        for places in pairs
    }
    if not all(one.examples for one in found.values()):
        return found
    corrected = holm([one.p_value for one in found.values()])
    return {
        places: replace(one, p_value=float(p_value))
        for (places, one), p_value in zip(found.items(), corrected, strict=True)
    }


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


def p_of_sign(drawn: Floats, slack: float = 0.0) -> float:
    """Two-sided p-value of resampled differences: twice the share on the smaller side of 0, with 0
    on both sides.
    """
    side = min(int((drawn <= slack).sum()), int((drawn >= -slack).sum()))
    return min(1.0, 2 * (1 + side) / (len(drawn) + 1))


def _differences(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    a, b = alike(1, first=first, second=second)
    if not len(a):
        raise ValueError("Expected at least one example, but got none.")
    return a - b


def _group_sums(differences: Floats, codes: Codes) -> Floats:
    """The sum of the differences of each group, (groups,); 0 if only rounding is left."""
    sums = np.bincount(codes, differences)
    sizes = np.bincount(codes, np.abs(differences))
    return np.where(np.abs(sums) > _ROUNDING * sizes, sums, 0.0)


def _ratio_of_sums(sums: Floats, counts: Floats, axis: int) -> Floats:
    """The mean over the examples of drawn groups, from the sums and the sizes of the groups."""
    found: Floats = sums.sum(axis=axis) / counts.sum(axis=axis)
    return found
