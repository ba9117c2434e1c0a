"""Lengths of summaries, and whether a measure ranks by them (Steen & Markert 2022, section 7.4,
appendix C).

Axes: ``d`` documents, ``s`` systems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from estime_metric.stats.checks import Floats, alike, check_systems, finite
from estime_metric.studies.meta.concordance import METHODS
from estime_metric.studies.meta.correlations import LEVELS, observed
from estime_metric.studies.meta.shuffle import LengthCurve, length_curve, split_sentences, wins
from estime_metric.validation import check_choice, integer

_COUNTS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "sentences": lambda text: len(split_sentences(text)),
}

UNITS = tuple(_COUNTS)


def count_lengths(texts: Sequence[Sequence[str]], unit: str = "characters") -> Floats:
    """Length of each of (d, s) summaries, rows of equal length; of no row: shape (0, 0). The unit
    is ``"characters"`` (the paper's), ``"words"`` (between white space) or ``"sentences"``
    (`estime_metric.studies.meta.shuffle.split_sentences`).

    Example:
        >>> count_lengths([["One. Two.", ""]], "words")
        array([[2., 0.]])
    """
    check_choice("unit", unit, UNITS)
    return count_in_texts(texts, _COUNTS[unit])


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


def lengths_by_system(lengths: ArrayLike, systems: Sequence[str]) -> pd.DataFrame:
    """Statistics of (d, s) lengths: a row for each system, indexed by name; columns ``mean``,
    ``std`` (of the sample; NaN of one summary), ``min``, ``median`` and ``max``; of no document all
    NaN.

    Example:
        >>> lengths_by_system([[10], [20], [60]], ["A"]).loc["A", ["mean", "median", "max"]].tolist()
        [30.0, 20.0, 60.0]
    """
    table = finite("lengths", lengths, 2)
    frame = pd.DataFrame(table, columns=list(check_systems(systems, table.shape[1])))
    return pd.DataFrame(
        {name: getattr(frame, name)() for name in ("mean", "std", "min", "median", "max")}
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


def agreement_by_length_difference(
    scores: ArrayLike,
    judgements: ArrayLike,
    lengths: ArrayLike,
    *,
    pairs: int = 10_000,
    seed: int = 0,
) -> LengthCurve:
    """How often a measure agrees on which of two summaries is better, by how much longer the better
    one is.

    Pairs of summaries that are judged different, of any document and system, are drawn at random
    without repetition. The curve of a measure that prefers long summaries rises; a tie of the
    measure counts as one half. All tables are (d, s), higher scores and judgements are better; the
    options are as in `accuracy_by_length_difference`.
    """
    tables = alike(2, scores=scores, judgements=judgements, lengths=lengths)
    guess, gold, sizes = (table.ravel() for table in tables)
    integer("pairs", pairs, 1)
    better, worse = np.nonzero(gold[:, None] > gold[None, :])
    if len(better) > pairs:
        drawn = np.random.default_rng(seed).choice(len(better), size=pairs, replace=False)
        better, worse = better[drawn], worse[drawn]
    return length_curve(sizes[better] - sizes[worse], wins(guess[better], guess[worse]))
