"""A mean with its interval, and how resamples give it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its 95% bootstrap interval; all NaN if there is no value, and the ends if
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


def interval_of(
    drawn: npt.NDArray[np.float64], mean: float | None = None, count: int | None = None
) -> Interval:
    """The 95% percentile interval of what resamples gave, (n,); NaN is excluded.

    ``mean`` and ``count`` describe the sample; if omitted, they are the mean and the number of the
    resamples.
    """
    import numpy as np

    known = drawn[~np.isnan(drawn)]
    low, high, average = math.nan, math.nan, math.nan
    if len(known):
        low, high = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
        average = float(known.mean())
    return Interval(
        mean=average if mean is None else mean,
        low=low,
        high=high,
        count=len(known) if count is None else count,
    )
