"""Baselines that read no word: chance and length (Steen & Markert 2022, section 5, "RND", and section 7.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from estime_metric.meta.lengths import count_lengths


def random_scores(number: int, seed: int = 0) -> NDArray[np.float64]:
    """Uniform random scores within 0..1, as the paper describes its lower bound.

    Args:
        number: of texts.
        seed: of the draw.

    Returns:
        float64 of shape (number,).

    Example:
        >>> random_scores(3).shape
        (3,)
    """
    return np.random.default_rng(seed).uniform(size=number)


def length_scores(texts: Sequence[str], unit: str = "characters") -> NDArray[np.float64]:
    """Lengths as scores: longer is "better".

    Args:
        texts: n texts.
        unit: ``"characters"``, ``"words"`` or ``"sentences"``, see `estime_metric.meta.lengths.count_lengths`.

    Returns:
        float64 of shape (n,).

    Raises:
        ValueError: ``unit`` is none of them.

    Example:
        >>> length_scores(["One. Two.", ""], "sentences")
        array([2., 0.])
    """
    lengths: NDArray[np.float64] = count_lengths([texts], unit)[0]
    return lengths
