"""A mean with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its bootstrap interval; all NaN if there is no value, and the ends if
    only one source has a value.

    Attributes:
        mean: the mean of the values that are defined.
        low, high: percentiles of the means of the resamples.
        count: how many values are defined.
    """

    mean: float
    low: float
    high: float
    count: int

    @classmethod
    def from_dict(cls, found: Mapping[str, float | int | None]) -> Interval:
        """An interval as `to_dict` gives it."""
        mean, low, high = (
            math.nan if found[name] is None else float(found[name] or 0)
            for name in ("mean", "low", "high")
        )
        return cls(mean, low, high, int(found["count"] or 0))

    def to_dict(self) -> dict[str, float | int | None]:
        """Plain numbers for JSON; ``None`` in place of NaN."""
        numbers = {"mean": self.mean, "low": self.low, "high": self.high}
        found: dict[str, float | int | None] = {
            name: None if math.isnan(value) else value for name, value in numbers.items()
        }
        return {**found, "count": self.count}
