"""Lengths of summaries, and whether a measure ranks by them (Steen & Markert 2022, section 7.4,
appendix C).

Axes: ``d`` documents, ``s`` systems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from estime_metric.checks import check_choice
from estime_metric.studies.meta.concordance import METHODS
from estime_metric.studies.meta.correlations import LEVELS, observed
from estime_metric.table.arrays import Floats, alike


def count_lengths(texts: Sequence[Sequence[str]]) -> Floats:
    """Length in characters of each of (d, s) summaries, rows of equal length; of no row: shape (0, 0).

    Example:
        >>> count_lengths([["One. Two.", ""]])
        array([[9., 0.]])
    """
    return count_in_texts(texts, len)


def count_in_texts(texts: Sequence[Sequence[str]], count: Callable[[str], int]) -> Floats:
    """A count of each text of a table (d, s) of texts; of no row: shape (0, 0). ValueError: rows
    differ in length.
    """
    width = len(texts[0]) if len(texts) else 0
    for i, row in enumerate(texts):
        if len(row) != width:
            raise ValueError(
                f"Expected argument `texts` to contain rows of {width} texts, but got {len(row)} in row {i}."
            )
    return np.array([[count(text) for text in row] for row in texts], dtype=np.float64).reshape(
        len(texts), width
    )


def correlation_with_length(
    scores: ArrayLike, lengths: ArrayLike, method: str = "kendall_b"
) -> dict[str, float]:
    """Correlation of (d, s) scores of a measure, or of judgements, with the (d, s) lengths of the
    summaries, by one of `METHODS`: level -> value, for each of `LEVELS`; NaN if it is undefined.
    """
    check_choice("method", method, METHODS)
    table, sizes = alike(2, scores=scores, lengths=lengths)
    return {level: observed(table, sizes, level, [method])[method].value for level in LEVELS}
