"""Resamples of documents and systems, drawn with replacement, and the percentile intervals of what
they give.
"""

from __future__ import annotations

import numpy as np

from estime_metric.comparison.checks import Floats
from estime_metric.inputs import check_choice, integer

RESAMPLES = ("documents", "systems", "both")  # what can be resampled

#: How often each resample takes each document, and each system.
Samples = tuple[Floats | None, Floats | None]


def draw(shape: tuple[int, int], resample: str, n: int, seed: int) -> Samples:
    """How often each of n resamples takes each document and each system: float64 of shapes (n, D)
    and (n, S); ``None`` for what is not drawn. Documents are drawn first, by
    ``numpy.random.default_rng(seed).integers(D, size=(n, D))``."""
    check_choice("resample", resample, RESAMPLES)
    integer("n", n, 1)
    if 0 in shape:
        raise ValueError(
            f"Expected at least one document and one system to resample, but got {shape}."
        )
    rng = np.random.default_rng(seed)
    return (
        _counts(rng, n, shape[0]) if resample != "systems" else None,
        _counts(rng, n, shape[1]) if resample != "documents" else None,
    )


def interval(drawn: Floats, confidence: float) -> tuple[float, float, int]:
    """Percentile interval of the values that are there, and the number of those that are not."""
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return float("nan"), float("nan"), len(drawn)
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high), len(drawn) - len(known)


def _counts(rng: np.random.Generator, n: int, size: int) -> Floats:
    """Rows of how often each of ``size`` things was drawn in ``size`` draws."""
    drawn = rng.integers(size, size=(n, size)) + np.arange(n)[:, None] * size
    return np.bincount(drawn.ravel(), minlength=n * size).reshape(n, size).astype(np.float64)
