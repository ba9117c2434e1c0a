"""Bias matrices: does a measure see when a weak system's summary is the better one? (Steen &
Markert 2022, section 6.1)

Axes: ``d`` documents, ``s`` systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from estime_metric.stats.checks import Floats, alike, check_systems
from estime_metric.stats.ranks import ratio
from estime_metric.validation import check_choice

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
    inverted one the other did. ``systems`` run from the best mean to the worst; tables are (s, s),
    rows the better system of a pair, columns the worse one: values above the diagonal.
    ``tau_plus``, ``tau_minus``: share of the consistent, and of the inverted, pairs that are ranked
    right minus the rest, within -1..1, higher is better, NaN of no pair; ``counts_plus``,
    ``counts_minus`` their numbers. ``compared`` is ``"same_document"`` or ``"all_documents"``.
    """

    systems: tuple[str, ...]
    tau_plus: Floats
    tau_minus: Floats
    counts_plus: Counts
    counts_minus: Counts
    compared: str

    @property
    def matrix(self) -> Floats:
        """The paper's matrix, (s, s): tau+ above the diagonal, tau- of the same pairs mirrored
        below it, 0 on it.
        """
        matrix: Floats = np.triu(self.tau_plus, 1) + np.tril(self.tau_minus.T, -1)
        return matrix

    @property
    def counts(self) -> Counts:
        """Numbers of pairs behind each cell of `matrix`, (s, s); 0 on the diagonal."""
        counts: Counts = self.counts_plus + self.counts_minus.T
        return counts


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
    names = check_systems(systems, scores.shape[1])
    check_choice("compared", compared, BIAS_PAIRS)
    order = rank_systems(judgements)
    gold, guess = judgements[:, order], scores[:, order]
    consistent = _count_pairs(gold, guess, compared, direction=1)
    inverted = _count_pairs(gold, guess, compared, direction=-1)
    return BiasMatrix(
        systems=tuple(names[index] for index in order),
        tau_plus=consistent.tau,
        tau_minus=inverted.tau,
        counts_plus=consistent.total,
        counts_minus=inverted.total,
        compared=compared,
    )


@dataclass(frozen=True, eq=False)
class _PairCounts:
    """The number of pairs of summaries of each two systems, (s, s), and how many are ranked
    correctly."""

    total: Counts
    right: Counts

    @property
    def tau(self) -> Floats:
        """The share that is ranked right minus the rest; NaN of no pair."""
        return ratio(2 * self.right - self.total, self.total)


def _count_pairs(gold: Floats, guess: Floats, compared: str, direction: int) -> _PairCounts:
    """The pairs that are judged in a direction, 1 for consistent and -1 for inverted ones; both
    tables have the best system first.
    """
    systems = gold.shape[1]
    total = np.zeros((systems, systems), dtype=np.int64)
    right = np.zeros_like(total)
    for better in range(systems):
        worse = slice(better + 1, None)
        judged = _signs(gold[:, better], gold[:, worse], compared) == direction
        ranked = _signs(guess[:, better], guess[:, worse], compared) == direction
        total[better, worse] = judged.sum(axis=0)
        right[better, worse] = (judged & ranked).sum(axis=0)
    return _PairCounts(total=total, right=right)


def rank_systems(judgements: Floats) -> list[int]:
    """Columns of (d, s) judgements from the best mean (rounded to 1e-9) to the worst; equal means
    in their order.
    """
    if not len(judgements):
        return list(range(judgements.shape[1]))
    means = np.round(judgements.mean(axis=0), MEAN_DIGITS)
    return [int(index) for index in np.argsort(-means, kind="stable")]


def _signs(one: Floats, others: Floats, compared: str) -> NDArray[np.int8]:
    """Signs of one system's values (d,) minus the values of others (d, o): of shape (d, o), or (d *
    d, o) of all pairs.
    """
    pairs = one[:, None] - others if compared == "same_document" else one[:, None, None] - others
    return np.sign(pairs).astype(np.int8).reshape(math.prod(pairs.shape[:-1]), others.shape[1])
