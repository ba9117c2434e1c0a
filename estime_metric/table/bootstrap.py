"""Bootstrap intervals of means over summaries, by source, in one pass over any number of pairs.

Summaries of one source are not independent, so whole sources are resampled. The Poisson bootstrap
draws the number of times that a resample contains a source from a Poisson distribution with mean 1,
independently of all other sources: memory does not grow with the number of pairs. The draws depend
only on the text of the source, and all sums are sums of whole millionths, which are exact. So neither
the order of the pairs nor batches nor a restart change an interval.

Source: Hanley & MacGibbon 2006; Chamandy, Muralidharan, Najmi & Naidu 2012.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from estime_metric.table.intervals import Interval, interval_of

Floats = npt.NDArray[np.float64]
Name = TypeVar("Name", bound=Hashable)

RESAMPLES = 1000
FEW_SOURCES = 20  # with fewer sources, intervals are too narrow

_UNIT = 1e6  # values are rounded to six decimals, as in files: sums of whole numbers have no order
_TOGETHER = 256  # pairs whose draws are in memory at the same time
_LEAST = 2  # sources with a value that an interval needs


class BootstrapMeans:
    """Means of columns of numbers, and their intervals over sources.

    Values are rounded to six decimals. A column's sum is exact below nine billion.

    Args:
        names: the columns.

    Attributes:
        few_sources: how many different sources have a value if they are fewer than
            `FEW_SOURCES`, which makes intervals too narrow; otherwise ``None``.

    Example:
        >>> means = BootstrapMeans(["alarms"])
        >>> ids = [source_id(text) for text in ("one", "one", "two", "three")]
        >>> means.add(ids, {"alarms": [0, 2, 1, 5]})
        >>> interval = means.interval("alarms")
        >>> interval.mean, interval.count, interval.low <= interval.mean <= interval.high, means.few_sources
        (2.0, 4, True, 3)
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._sums = np.zeros((len(self.names), 1 + RESAMPLES))
        self._counts = np.zeros((len(self.names), 1 + RESAMPLES))
        # For each column, sources with a value, until there are enough.
        self._sources: tuple[set[str], ...] = tuple(set() for _ in self.names)

    @property
    def few_sources(self) -> int | None:
        """How many different sources there are, if they are few."""
        sources = max(map(len, self._sources), default=0)
        return sources if sources < FEW_SOURCES else None

    def add(
        self, source_ids: Sequence[str], columns: Mapping[str, Sequence[float | None] | Floats]
    ) -> None:
        """Adds some summaries: the `source_id` of each, and in each column a value of each; NaN and
        ``None`` are excluded from the mean of the column.
        """
        values = np.array([columns[name] for name in self.names], dtype=np.float64)
        values = values.reshape(len(self.names), len(source_ids))
        for start in range(0, len(source_ids), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            self._add(source_ids[part], values[:, part])

    def _add(self, source_ids: Sequence[str], values: Floats) -> None:
        sources, codes = np.unique(source_ids, return_inverse=True)
        weights = np.stack([_draws(source) for source in sources])
        belongs = np.eye(len(sources))[codes]  # 1 for the source of each summary
        defined = np.isfinite(values)
        for known, has_value in zip(self._sources, (defined @ belongs) > 0, strict=True):
            if len(known) < FEW_SOURCES:
                known.update(sources[has_value].tolist())
        millionths = np.round(np.where(defined, values, 0.0) * _UNIT)
        self._sums += millionths @ belongs @ weights
        self._counts += defined.astype(np.float64) @ belongs @ weights

    def interval(self, name: str) -> Interval:
        """The mean of a column and its 95% interval. If only one source has a value in the column,
        there is no interval, and its ends are NaN.
        """
        row = self.names.index(name)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self._sums[row] / self._counts[row] / _UNIT
        drawn = means[1:] if len(self._sources[row]) >= _LEAST else means[:0]
        return interval_of(drawn, mean=float(means[0]), count=int(self._counts[row, 0]))


def intervals(
    source_ids: Sequence[str], columns: Mapping[Name, Sequence[float | None] | Floats]
) -> dict[Name, Interval]:
    """The mean and the interval of each column; arguments as for `BootstrapMeans.add`."""
    means = BootstrapMeans(tuple(map(str, columns)))
    means.add(source_ids, {str(name): values for name, values in columns.items()})
    return {name: means.interval(str(name)) for name in columns}


def source_id(source: str) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a source's text in UTF-8: what identifies the
    source in the column ``source_id`` of scored files, and seeds its draws.

    Example:
        >>> source_id("Rain fell.")
        '8a4b1e83d9ac7658'
    """
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _draws(source: str) -> Floats:
    """How often the sample (once) and each resample contain the source with this `source_id`."""
    rng = np.random.default_rng(int.from_bytes(bytes.fromhex(source), "little"))
    return np.concatenate([[1.0], rng.poisson(1.0, size=RESAMPLES)])
