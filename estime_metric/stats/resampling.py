"""Resamples of documents and systems, drawn with replacement."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from estime_metric.stats.checks import Floats
from estime_metric.validation import check_choice, integer

RESAMPLES = ("documents", "systems", "both")  # what can be resampled


class Samples(NamedTuple):
    """How often each of n resamples draws each of the D ``documents`` and S ``systems``: float64 of
    shapes (n, D) and (n, S), NaN for a single one; ``None`` for what is not drawn.
    """

    documents: Floats | None
    systems: Floats | None


def draw(shape: tuple[int, int], resample: str, n: int, seed: int) -> Samples:
    """Draws n resamples of the documents, the systems or both of a table of ``shape`` (D, S).
    Documents are drawn first, by ``numpy.random.default_rng(seed).integers(D, size=(n, D))``.
    """
    check_choice("resample", resample, RESAMPLES)
    integer("n", n, 1)
    if 0 in shape:
        raise ValueError(
            f"Expected at least one document and one system to resample, but got {shape}."
        )
    rng = np.random.default_rng(seed)
    documents, systems = shape
    return Samples(
        documents=_counts(rng, n, documents) if resample != "systems" else None,
        systems=_counts(rng, n, systems) if resample != "documents" else None,
    )


def draw_items(items: int, n: int, seed: int) -> Floats:
    """How often each of n resamples draws each of some items of one kind: float64 of shape (n,
    items); the same as the documents of `draw`.
    """
    documents = draw((items, 1), "documents", n, seed).documents
    assert documents is not None
    return documents


def _counts(rng: np.random.Generator, n: int, size: int) -> Floats:
    """Rows of how often each of ``size`` things was drawn in ``size`` draws; NaN for a single one: all
    its resamples are itself, so an interval of them would have no width, as if it were certain.
    """
    if size == 1:
        return np.full((n, 1), np.nan)
    drawn = rng.integers(size, size=(n, size)) + np.arange(n)[:, None] * size
    return np.bincount(drawn.ravel(), minlength=n * size).reshape(n, size).astype(np.float64)
