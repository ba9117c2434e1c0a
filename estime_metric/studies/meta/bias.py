"""Bias matrices: does a measure see when a weak system's summary is the better one? (Steen &
Markert 2022, section 6.1)

Axes: ``d`` documents, ``s`` systems.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from estime_metric.checks import check_choice
from estime_metric.studies.meta.ranks import Flags, ratio
from estime_metric.table.arrays import Floats, alike

Counts = NDArray[np.int64]

Compared = Literal["same_document", "all_documents"]

BIAS_PAIRS: tuple[Compared, ...] = (
    "same_document",
    "all_documents",
)  # which summaries of two systems are compared
MEAN_DIGITS = (
    9  # means of judgements that differ by no more than rounding are one mean: digits that are kept
)


@dataclass(frozen=True, eq=False)
class BiasMatrix:
    """How well a measure ranks consistent and inverted pairs of summaries, for each pair of
    systems.

    In a consistent pair the system with the better mean judgement wrote the better summary, in an
    inverted one the other did. ``systems`` run from the best mean to the worst. ``matrix``, float64
    of shape (s, s), has tau+ of the consistent pairs above the diagonal, with the better system in
    the row, and tau- of the inverted pairs, mirrored, below it: the share that is ranked right minus
    the rest, within -1..1, higher is better, NaN of no pair, 0 on the diagonal. ``counts``, (s, s),
    are the numbers of pairs. ``compared`` is ``"same_document"`` or ``"all_documents"``.
    """

    systems: tuple[str, ...]
    matrix: Floats
    counts: Counts
    compared: str


def bias_matrix(
    scores: Floats, judgements: Floats, systems: Sequence[str], compared: Compared = "same_document"
) -> BiasMatrix:
    """The bias matrix of a measure; all NaN of no document, empty of no system.

    Pairs that are judged equal are excluded; pairs that the measure ties count as wrong. Systems
    whose mean judgements are equal (after rounding to 1e-9) keep their order. Scores and judgements
    are (d, s), higher is better; ``compared`` is ``"same_document"``: two systems' summaries of one
    document, as in the authors' released code; or ``"all_documents"``: each summary of one with
    each of the other, as in the paper's formula.

    Example:
        >>> import numpy as np
        >>> judgements = np.array([[5.0, 1.0], [4.0, 2.0], [3.0, 4.0]])
        >>> always_first = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
        >>> bias_matrix(always_first, judgements, ["A", "B"]).matrix
        array([[ 0.,  1.],
               [-1.,  0.]])
        >>> bias_matrix(always_first, judgements, ["A", "B"]).counts
        array([[0, 2],
               [1, 0]])
    """
    scores, judgements = alike(2, scores=scores, judgements=judgements)
    if len(systems) != scores.shape[1]:
        raise ValueError(
            f"Expected argument `systems` to contain {scores.shape[1]} names, but got {len(systems)}."
        )
    check_choice("compared", compared, BIAS_PAIRS)
    order = rank_systems(judgements)
    gold, guess = judgements[:, order], scores[:, order]
    size = len(order)
    counts, right = (np.zeros((size, size), dtype=np.int64) for _ in range(2))
    for first, second in itertools.permutations(range(size), 2):
        judged, ranked = (
            _is_higher(values[:, first], values[:, second], compared) for values in (gold, guess)
        )
        counts[first, second] = judged.sum()
        right[first, second] = (judged & ranked).sum()
    matrix = ratio(2.0 * right - counts, counts.astype(np.float64))
    np.fill_diagonal(matrix, 0.0)
    return BiasMatrix(tuple(systems[index] for index in order), matrix, counts, compared)


def rank_systems(judgements: Floats) -> list[int]:
    """Columns of (d, s) judgements from the best mean (rounded to 1e-9) to the worst; equal means
    in their order.
    """
    if not len(judgements):
        return list(range(judgements.shape[1]))
    means = np.round(judgements.mean(axis=0), MEAN_DIGITS)
    return [int(index) for index in np.argsort(-means, kind="stable")]


def _is_higher(first: Floats, second: Floats, compared: str) -> Flags:
    """Whether the first system's values (d,) are higher: of shape (d,), or (d, d) of all pairs."""
    return (first if compared == "same_document" else first[:, None]) > second
