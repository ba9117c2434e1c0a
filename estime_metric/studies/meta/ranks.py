"""Classes and ranks of values under weights, from which statistics of a sample and of its resamples
are computed.

Axes: n weightings (resamples, permutations), k items (summaries, or systems). A weight says how
often an item occurs in the sample, so a resample is a row of weights and nothing is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from estime_metric.table.arrays import Codes, Floats

Flags = npt.NDArray[np.bool_]


def dense(values: Floats | Codes, tolerance: float = 0.0) -> Codes:
    """Numbers the different values along the last axis from 0, rising; neighbors within
    ``tolerance`` are equal.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    steps = np.diff(np.take_along_axis(values, order, axis=-1), axis=-1) > tolerance
    codes = np.zeros(values.shape, dtype=np.int64)
    np.put_along_axis(codes, order[..., 1:], np.cumsum(steps, axis=-1), axis=-1)
    return codes


def by_class(weights: Floats, codes: Codes) -> Floats:
    """The weight of each class, (n, classes)."""
    rows, classes = len(weights), int(codes.max(initial=-1)) + 1
    flat_index = np.arange(rows)[:, None] * classes + codes
    flat = np.bincount(flat_index.ravel(), weights.ravel(), minlength=rows * classes).astype(
        np.float64
    )
    return flat.reshape(rows, classes)


def mid_ranks(class_weights: Floats, codes: Codes) -> Floats:
    """Twice the mid-rank of each item minus its mean: whole numbers, of shape (n, k)."""
    below = np.cumsum(class_weights, axis=1)
    ranks = 2 * below - class_weights - (below[:, -1:] if below.size else 0)
    return np.take_along_axis(ranks, np.broadcast_to(codes, (len(ranks), codes.shape[-1])), axis=1)


def ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any], defined: Flags | bool = True) -> Floats:
    """``part / whole`` in the shape of ``part``; NaN if ``whole`` is 0 or the value is not
    ``defined``.
    """
    ratios: Floats = np.divide(
        part, whole, out=np.full(part.shape, np.nan), where=defined & (whole > 0)
    )
    return ratios
