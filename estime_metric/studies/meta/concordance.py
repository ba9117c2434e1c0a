"""Weighted counts of pairs, ranks and moments: every correlation and every resample is computed
from them.

Axes: n weightings (resamples, permutations), k items (summaries, or systems). A weight says how
often an item occurs in the sample, so a resample is a row of weights and nothing is copied. Counts
of pairs are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estime_metric.studies.meta.ranks import Flags, by_class, dense, mid_ranks, ratio
from estime_metric.table.arrays import Floats

_BLOCK = 4_000_000  # numbers in a block of the matrix of signs: 4 million float32 are 16 MB


@dataclass(frozen=True, eq=False)
class Tally:
    """What is known of one set of items under each of n weightings; float64 of shape (n,).
    ``items`` and their ``pairs``; ``balance``: pairs that scores and judgements order alike minus
    those that they order differently; ``ordered_scores``, ``ordered_judgements``, ``ordered_both``:
    pairs in which these differ; ``classes``: different scores or different judgements, whichever is
    fewer; ``ranks``, ``moments``: products of mid-ranks, or of values, about their mean."""

    pairs: Floats
    balance: Floats
    ordered_scores: Floats
    ordered_judgements: Floats
    ordered_both: Floats
    items: Floats
    classes: Floats
    ranks: Products
    moments: Products

    @property
    def concordant(self) -> Floats:
        """Pairs that scores and judgements order alike."""
        return (self.balance + self.ordered_both) / 2

    @property
    def varied(self) -> Flags:
        """Whether neither scores nor judgements are all equal."""
        return (self.ordered_scores > 0) & (self.ordered_judgements > 0)


class Products(NamedTuple):
    """Sums of products under each of n weightings, (n,): of scores with judgements, of scores with
    themselves, of judgements with themselves.
    """

    both: Floats
    scores: Floats
    judgements: Floats

    def cosine(self, defined: Flags) -> Floats:
        """Their cosine, NaN if it is not ``defined``."""
        return np.clip(ratio(self.both, np.sqrt(self.scores * self.judgements), defined), -1, 1)


def tally(
    weights: Floats,
    scores: Floats,
    judgements: Floats,
    *,
    score_tolerance: float = 0.0,
    judgement_tolerance: float = 0.0,
) -> Tally:
    """The counts of k items: ``weights`` are whole numbers of shape (n, k); scores and judgements
    of shape (k,), or (n, k) if they differ by weighting. Values within their tolerance are equal.
    """
    x, y = dense(scores, score_tolerance), dense(judgements, judgement_tolerance)
    score_classes, judgement_classes = by_class(weights, x), by_class(weights, y)
    joint_classes = by_class(weights, dense(x * (int(y.max(initial=-1)) + 1) + y))
    tied_x, tied_y, tied_both = (
        (class_items * (class_items - 1)).sum(axis=1) / 2
        for class_items in (score_classes, judgement_classes, joint_classes)
    )
    items = weights.sum(axis=1)
    pairs = items * (items - 1) / 2
    return Tally(
        pairs=pairs,
        balance=_balance(weights, x, y),
        ordered_scores=pairs - tied_x,
        ordered_judgements=pairs - tied_y,
        ordered_both=pairs - tied_x - tied_y + tied_both,
        items=items,
        classes=np.minimum(
            (score_classes > 0).sum(axis=1), (judgement_classes > 0).sum(axis=1)
        ).astype(np.float64),
        ranks=_products(weights, mid_ranks(score_classes, x), mid_ranks(judgement_classes, y)),
        moments=_products(weights, _centered(weights, scores), _centered(weights, judgements)),
    )


def _centered(weights: Floats, values: Floats) -> Floats:
    """Values minus their weighted mean, scaled to at most 1 so that no square vanishes; of shape
    (n, k).
    """
    items = weights.sum(axis=1, keepdims=True)
    centered: Floats = values - (weights * values).sum(axis=1, keepdims=True) / np.where(
        items > 0, items, 1
    )
    largest = np.abs(centered).max(axis=1, keepdims=True, initial=0)
    return centered / np.where(largest > 0, largest, 1)


def _products(weights: Floats, x: Floats, y: Floats) -> Products:
    return Products(
        both=(weights * x * y).sum(axis=1),
        scores=(weights * x * x).sum(axis=1),
        judgements=(weights * y * y).sum(axis=1),
    )


def _balance(weights: Floats, x: npt.NDArray[Any], y: npt.NDArray[Any]) -> Floats:
    """Concordant minus discordant pairs: half of ``w' S w``, S the products of the signs of all
    differences.
    """
    total = np.zeros(len(weights))
    if x.ndim == 2 or y.ndim == 2:  # each weighting has separate signs, of few items
        x, y = np.broadcast_to(x, weights.shape), np.broadcast_to(y, weights.shape)
        for item in range(weights.shape[1]):
            signs = np.sign(x[:, item, None] - x) * np.sign(y[:, item, None] - y)
            total += weights[:, item] * (weights * signs).sum(axis=1)
        return total / 2
    # float32 holds numbers of classes and sums of weights exactly up to 16 million items.
    cast, step = weights.astype(np.float32), max(1, _BLOCK // max(1, len(x)))
    x, y = x.astype(np.float32), y.astype(np.float32)
    for first in range(0, len(x), step):
        rows = slice(first, first + step)
        signs = np.sign((x[rows, None] - x) * (y[rows, None] - y))  # (rows, k)
        total += (weights[:, rows] * (cast @ signs.T)).sum(axis=1)
    return total / 2


def spearman(counts: Tally) -> Floats:
    """Spearman's rho: the correlation of mid-ranks."""
    return counts.ranks.cosine(counts.varied)


def pearson(counts: Tally) -> Floats:
    """Pearson's r."""
    return counts.moments.cosine(counts.varied)


def kendall_a(counts: Tally) -> Floats:
    """Kendall's tau-a: ties count neither way."""
    return ratio(counts.balance, counts.pairs, counts.ordered_judgements > 0)


def kendall_b(counts: Tally) -> Floats:
    """Kendall's tau-b, corrected for ties."""
    ordered = np.sqrt(counts.ordered_scores * counts.ordered_judgements)
    return ratio(counts.balance, ordered, counts.varied)


def kendall_c(counts: Tally) -> Floats:
    """Kendall's tau-c, by Stuart."""
    most = counts.items**2 * (counts.classes - 1) / np.maximum(counts.classes, 1)
    return ratio(2 * counts.balance, most, counts.varied)


def accuracy(counts: Tally) -> Floats:
    """The share of the pairs that the judgements order which the scores order alike."""
    return ratio(counts.concordant, counts.ordered_judgements)


#: method -> its values under each weighting, float64 of shape (n,), NaN if it is undefined.
METHODS: dict[str, Callable[[Tally], Floats]] = {
    "spearman": spearman,
    "pearson": pearson,
    "kendall_a": kendall_a,
    "kendall_b": kendall_b,
    "kendall_c": kendall_c,
    "accuracy": accuracy,
}


def mean_over_groups(tallies: Sequence[Tally], weights: Floats, method: str) -> Floats:
    """The mean of a correlation over the g groups in which it is defined, for ``accuracy`` the
    share of all pairs; of shape (n,), NaN if no group has a value. ``tallies`` are under n
    weightings or one for all; ``weights``, (n, g), says how often each group counts."""

    def total(values: Iterable[Floats]) -> Floats:
        columns = [np.broadcast_to(np.nan_to_num(value), len(weights)) for value in values]
        return (
            (weights * np.stack(columns, axis=1)).sum(axis=1) if columns else np.zeros(len(weights))
        )

    if method == "accuracy":
        right = total(counts.concordant for counts in tallies)
        return ratio(right, total(counts.ordered_judgements for counts in tallies))
    values = [METHODS[method](counts) for counts in tallies]
    return ratio(total(values), total((~np.isnan(value)).astype(np.float64) for value in values))
