"""A mean with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CONFIDENCE = 0.95


def percentiles(drawn: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The ends of the interval that contains the share `CONFIDENCE` of what resamples gave, (n,)."""
    import numpy as np

    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


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
