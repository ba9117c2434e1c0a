"""A mean with its interval."""

from __future__ import annotations

import math
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

    def to_dict(self) -> dict[str, float | int | None]:
        """Plain numbers for JSON; ``None`` in place of NaN."""
        ends = {"mean": self.mean, "low": self.low, "high": self.high}
        plain = {name: None if math.isnan(value) else value for name, value in ends.items()}
        return {**plain, "count": self.count}
