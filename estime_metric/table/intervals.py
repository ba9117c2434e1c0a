"""Means over summaries with bootstrap intervals by source, for any number of pairs.

Summaries of one source are not independent, so whole sources are resampled. The Poisson bootstrap
draws the number of times that a resample contains a source from a Poisson distribution with mean 1,
independently of all other sources: memory does not grow with the number of pairs. The draws depend
only on the text of the source, and all sums are sums of whole units, which are exact. So neither the
order of the pairs nor batches nor a restart change an interval.

Source: Hanley & MacGibbon 2006; Chamandy, Muralidharan, Najmi & Naidu 2012.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from estime_metric.table.arrays import Floats

Name = TypeVar("Name", bound=Hashable)

CONFIDENCE = 0.95
RESAMPLES = 1000
FEW_SOURCES = 20  # with fewer sources, intervals are too narrow

DECIMALS = 6  # to which ESTIME's measures are rounded, as in files
_EXACT_BITS = 53  # of a sum in float64
_SPARE_BITS = 2  # for sources that are drawn often
_GREATEST_EXPONENT = 1022  # of float64
_TOGETHER = 256  # sources whose draws are in memory at the same time
_LEAST = 2  # sources with a value that an interval needs


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
        return {name: None if math.isnan(value) else value for name, value in vars(self).items()}


def intervals(
    source_ids: Sequence[str],
    columns: Mapping[Name, Sequence[float | None] | npt.ArrayLike],
    *,
    of_others: Collection[Name] = (),
) -> dict[Name, Interval]:
    """The mean of each column over summaries, with its 95% interval over sources.

    Values are rounded to six decimals; NaN and ``None`` are excluded. If only one source has a value in a
    column, there is no interval, and its ends are NaN. The draws of all columns are made once.

    Args:
        source_ids: the `source_id` of each summary.
        columns: name -> a value of each summary.
        of_others: the columns with an unknown scale. They are rounded to multiples of a power of two, the
            least one with which their sums are exact.

    Example:
        >>> ids = [source_id(text) for text in ("one", "one", "two", "three")]
        >>> interval = intervals(ids, {"alarms": [0, 2, 1, 5]})["alarms"]
        >>> interval.mean, interval.count, interval.low <= interval.mean <= interval.high
        (2.0, 4, True)
    """
    sources, codes = np.unique(np.asarray(source_ids, dtype=object), return_inverse=True)
    sums, counts = (np.zeros((len(columns), len(sources))) for _ in range(2))  # of each source
    scales = np.zeros((len(columns), 1))  # units in 1
    for row, (name, values) in enumerate(columns.items()):
        column = np.asarray(values, dtype=np.float64)
        defined = np.isfinite(column)
        column = np.where(defined, column, 0.0)
        scales[row] = _exact_scale(column) if name in of_others else 10.0**DECIMALS
        sums[row] = np.bincount(codes, np.round(column * scales[row]), len(sources))
        counts[row] = np.bincount(codes, defined, len(sources))
    drawn_sums, drawn_counts = (np.zeros((len(columns), 1 + RESAMPLES)) for _ in range(2))
    for start in range(0, len(sources), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        draws = _draws_of(sources[part].tolist())
        # Threads of BLAS would wait for the next draws in vain, which takes as long again.
        drawn_sums += np.einsum("cs,sr->cr", sums[:, part], draws)
        drawn_counts += np.einsum("cs,sr->cr", counts[:, part], draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = drawn_sums / drawn_counts / scales
    means[(counts > 0).sum(axis=1) < _LEAST, 1:] = math.nan
    return {
        name: replace(
            interval_of(means[row, 1:]),
            mean=float(means[row, 0]),
            count=int(drawn_counts[row, 0]),
        )
        for row, name in enumerate(columns)
    }


def interval_of(drawn: Floats) -> Interval:
    """The mean of what resamples gave, (n,), and its 95% percentile interval; NaN is excluded."""
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return Interval(math.nan, math.nan, math.nan, 0)
    low, high = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
    return Interval(float(known.mean()), low, high, len(known))


def source_id(source: str) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a source's text in UTF-8: what identifies the
    source in the column ``source_id`` of scored files, and seeds its draws.

    Example:
        >>> source_id("Rain fell.")
        '8a4b1e83d9ac7658'
    """
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _exact_scale(column: Floats) -> float:
    """The greatest power of two that makes whole numbers of a column, rounded, with sums that are exact,
    also of its resamples.
    """
    _, exponent = np.frexp(np.abs(column).max(initial=0.0))
    bits = _EXACT_BITS - _SPARE_BITS - len(column).bit_length() - int(exponent)
    return math.ldexp(1.0, min(bits, _GREATEST_EXPONENT))


def _draws_of(sources: Sequence[str]) -> npt.NDArray[np.uint8]:
    """How often the sample (once) and each resample contain the sources with these `source_id`, of shape
    (sources, 1 + RESAMPLES). A Poisson distribution with mean 1 does not reach 256.
    """
    draws = np.ones((len(sources), 1 + RESAMPLES), dtype=np.uint8)
    for row, source in zip(draws, sources, strict=True):
        rng = np.random.default_rng(int.from_bytes(bytes.fromhex(source), "little"))
        row[1:] = rng.poisson(1.0, size=RESAMPLES)
    return draws
