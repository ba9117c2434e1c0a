"""Estimates with bootstrap intervals: quotients of sums over pairs, the pairs resampled.

Axes: ``n`` resamples, ``d`` pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from estime_metric.meta.checks import Floats
from estime_metric.meta.resampling import draw, interval

#: Resamples, and the share of them within an interval.
RESAMPLES = 1000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value and its percentile interval; NaN where there is none."""

    value: float
    low: float
    high: float


class Sampler:
    """Resamples pairs, the same ones for everything that is computed with it.

    Args:
        pairs: how many there are.
        n: number of resamples.
        seed: of the random numbers.

    Attributes:
        pairs: how many there are.
        weights: how often each resample takes each pair, float64 of shape (n, d).
    """

    def __init__(self, pairs: int, n: int = RESAMPLES, seed: int = 0) -> None:
        self.pairs = pairs
        drawn = draw((pairs, 1), "documents", n, seed)[0] if pairs else None
        self.weights: Floats = np.zeros((n, 0)) if drawn is None else drawn

    def sum(self, values: npt.ArrayLike) -> Floats:
        """Sums over the pairs: the one over the sample first, then one for each resample; of shape (1 + n,)."""
        array = np.asarray(values, dtype=np.float64)  # (d,)
        return np.concatenate([[array.sum()], self.weights @ array])

    def quotient(self, numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> Estimate:
        """The sum of one thing over the sum of another."""
        return estimate(divide(self.sum(numerators), self.sum(denominators)))

    def mean(self, values: npt.ArrayLike) -> Estimate:
        """The mean over the pairs."""
        return self.quotient(values, np.ones(np.shape(values)))


def divide(numerators: Any, denominators: Any) -> Floats:
    """Quotients, NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients: Floats = np.where(denominators == 0, np.nan, np.asarray(numerators) / denominators)
    return quotients


def estimate(values: Floats) -> Estimate:
    """The first value with the interval of the others, widened to it where it lies outside.

    A resample that takes a pair twice ties it with itself, which shifts correlations of a few pairs to one side.

    Example:
        >>> found = estimate(np.array([2.0, *range(41)]))
        >>> found.value, round(found.low, 6), round(found.high, 6)
        (2.0, 1.0, 39.0)
    """
    low, high, _ = interval(values[1:], CONFIDENCE)
    value = float(values[0])
    return Estimate(value, min(low, value), max(high, value))


def flat(record: Any) -> dict[str, Any]:
    """The fields of a dataclass, each `Estimate` as ``NAME``, ``NAME_low`` and ``NAME_high``.

    Example:
        >>> flat(Estimate(1.0, 0.5, 2.0))
        {'value': 1.0, 'low': 0.5, 'high': 2.0}
    """
    found: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, Estimate):
            found |= {field.name: value.value, f"{field.name}_low": value.low, f"{field.name}_high": value.high}
        else:
            found[field.name] = value
    return found
