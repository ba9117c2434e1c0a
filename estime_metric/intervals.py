"""Bootstrap intervals of means over summaries, by source, in one pass over any number of pairs.

Summaries of one source are not independent, so whole sources are resampled. The Poisson bootstrap
draws how often a resample takes a source from a Poisson distribution with mean 1, independently of
all other sources: memory does not grow with the number of pairs, and parts of a job can be added
up. The draws depend on the text of the source alone, so neither order nor batches nor a restart
change an interval.

Source: Hanley & MacGibbon 2006; Chamandy, Muralidharan, Najmi & Naidu 2012.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RESAMPLES = 1000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its bootstrap interval; all NaN if there is no value.

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
        numbers = {"mean": self.mean, "low": self.low, "high": self.high}
        found: dict[str, float | int | None] = {
            name: None if math.isnan(value) else value for name, value in numbers.items()
        }
        return {**found, "count": self.count}


class BootstrapMeans:
    """Means of columns of numbers, and their intervals over sources.

    Args:
        names: the columns.
        resamples: how many resamples are drawn.

    Example:
        >>> means = BootstrapMeans(["alarms"])
        >>> for number, source in enumerate(["one", "two", "three"]):
        ...     means.add(source, {"alarms": [number, number + 2]})
        >>> found = means.interval("alarms")
        >>> found.mean, found.count, found.low <= found.mean <= found.high
        (2.0, 6, True)
    """

    def __init__(self, names: Sequence[str], resamples: int = RESAMPLES) -> None:
        self.names = tuple(names)
        self.resamples = resamples
        self._sums = np.zeros((len(self.names), 1 + resamples))
        self._counts = np.zeros((len(self.names), 1 + resamples))

    def add(self, source: str, columns: Mapping[str, Sequence[float]]) -> None:
        """Adds the values of some summaries of one source; NaN is left out of the column's mean."""
        values = np.array([columns[name] for name in self.names], dtype=np.float64)
        defined = np.isfinite(values)
        weights = np.concatenate([[1.0], _draws(source, self.resamples)])
        self._sums += np.outer(np.where(defined, values, 0.0).sum(axis=1), weights)
        self._counts += np.outer(defined.sum(axis=1), weights)

    def __iadd__(self, other: BootstrapMeans) -> BootstrapMeans:
        """Adds what another part of a job has added; ValueError if its columns differ."""
        if (self.names, self.resamples) != (other.names, other.resamples):
            raise ValueError(
                f"Expected means of the columns {', '.join(self.names)} over {self.resamples} resamples, but got "
                f"{', '.join(other.names)} over {other.resamples}."
            )
        self._sums += other._sums
        self._counts += other._counts
        return self

    def interval(self, name: str, confidence: float = CONFIDENCE) -> Interval:
        """The mean of a column and the interval that ``confidence``, between 0 and 1, of the
        resamples lie within.
        """
        row = self.names.index(name)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self._sums[row] / self._counts[row]
        drawn = means[1:][np.isfinite(means[1:])]
        if not len(drawn):
            return Interval(float(means[0]), float("nan"), float("nan"), int(self._counts[row, 0]))
        low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
        return Interval(float(means[0]), float(low), float(high), int(self._counts[row, 0]))


def _draws(source: str, resamples: int) -> Floats:
    """How often each resample takes a source."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "little"))
    return rng.poisson(1.0, size=resamples).astype(np.float64)
