"""Embeddings -> matches: for each summary unit its best matches in the source.

Axes: ``l`` layers, ``s`` summary units, ``t`` source units, ``d`` hidden width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from estime_metric.engine.embedding import Embeddings
from estime_metric.engine.encoder.device import put_all, to_host
from estime_metric.engine.pairs import PairBatch, PredictionUnits, SourceGroup
from estime_metric.engine.units import Units

MOST_PRODUCTS = 4_000_000  # dot products that are computed together: 16 MB in float32

#: Similarities below it count as this when a margin is divided by them.
SMALLEST_SIMILARITY = 1e-9

#: Two dot products with one embedding may change order only by rounding if they are no further
#: apart than this fraction of the product of the lengths, by the precision of the embeddings. In
#: bfloat16 and float16 it is two units in the last place.
TIE_TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 2**-6, torch.float16: 2**-9}


class Matches(NamedTuple):
    """For each summary unit its best matches in the source; each field is of shape (l, s).

    Attributes:
        same: ``s(i)`` of Eq. 2, the greatest dot product with a source unit of the same id; -inf if
            there is none; float32.
        same_at: position of that source unit, the first if several are equal; int64.
        other: ``o(i)``, the greatest dot product with a source unit of another id; as ``same``.
        other_at: position of that source unit; as ``same_at``.
        winners: how many source units of another id exceed ``same`` (the inner sum of Eq. 3); int64.
        ties: whether ``same`` and ``other`` are so close that rounding may change the verdict; bool.
        winner_ties: how many source units of another id are as close to ``same``; int64.
        best_ties: whether another source unit is as close to the best match of any id; bool.
    """

    same: Tensor
    same_at: Tensor
    other: Tensor
    other_at: Tensor
    winners: Tensor
    ties: Tensor
    winner_ties: Tensor
    best_ties: Tensor

    @property
    def alarms(self) -> Tensor:
        """Where a source unit of another id matches best, strictly (Eq. 1); bool."""
        return self.other > self.same

    @property
    def relative_margin(self) -> Tensor:
        """``same`` minus ``other``, divided by the larger of the two, so that it is comparable
        across encoders; float32, negative for an alarm, infinity if no source unit has another id.
        """
        best = torch.maximum(self.same, self.other).abs()
        return (self.same - self.other) / best.clamp(min=SMALLEST_SIMILARITY)

    @property
    def best_at(self) -> Tensor:
        """Position of the best match of any id; the same id wins if both are equal; int64."""
        return torch.where(self.alarms, self.other_at, self.same_at)

    @property
    def alarms_or_unmatched(self) -> Tensor:
        """Alarms and units with an id that does not occur in the source, which may be empty;
        bool."""
        return self.alarms | self.same.isneginf()

    @property
    def units(self) -> int:
        """How many summary units they are of."""
        return self.same.shape[1]

    def only(self, rows: Tensor) -> Matches:
        """The matches of some summary units; ``rows`` is bool or int64."""
        return Matches._make(values[:, rows] for values in self)

    @classmethod
    def cat(cls, parts: Sequence[Matches]) -> Matches:
        """The matches of all summary units of the parts, one after the other."""
        return cls._make(torch.cat(values, dim=1) for values in zip(*parts, strict=True))

    def split(self, sizes: list[int]) -> list[Matches]:
        """The matches of consecutive groups of summary units of the given sizes."""
        pieces = (torch.split(values, sizes, dim=1) for values in self)
        return [Matches._make(fields) for fields in zip(*pieces, strict=True)]


@dataclass(frozen=True, eq=False, slots=True)
class MatchedPair:
    """A summary, its source and their matches.

    Attributes:
        source: the units of the source.
        prediction: the units of the summary.
        checked: matches of the units that are checked; with words that overlap nowhere, of all.
        every: matches of all units; of those that are checked if no others were embedded.
    """

    source: Units
    prediction: PredictionUnits
    checked: Matches
    every: Matches


class _OnDevice(NamedTuple):
    """What the device has to know of a source and its summaries; int64 of shape (n,) each."""

    prediction_ids: Tensor  # of all sets of units that were embedded, one after the other
    source_ids: Tensor
    occurring: Tensor  # rows of the words that occur in the source; empty if units are tokens


def match_batch(batch: PairBatch, embeddings: Embeddings, *, normalize: bool) -> list[MatchedPair]:
    """The matches of every pair of a batch; one product for each source.

    Args:
        batch: the pairs.
        embeddings: those of its sets of units, by `Embedder.embed`.
        normalize: scale embeddings to length one first (appendix C).
    """
    groups = [group for group in batch.groups if group.predictions]
    if not groups:
        return []
    device = embeddings[groups[0].predictions[0].checked].device
    arrays = [array for group in groups for array in _arrays(group, embeddings)]
    placed = iter(put_all(arrays, device))  # one copy to the device for all groups
    return [
        pair
        for group in groups
        for pair in _match_group(
            group, embeddings, _OnDevice(next(placed), next(placed), next(placed)), normalize
        )
    ]


def _arrays(group: SourceGroup, embeddings: Embeddings) -> list[NDArray[np.int64]]:
    """The arrays of `_OnDevice` on the CPU.

    A source without embeddings has no ids here: no unit of these summaries was embedded, though a
    later batch may need them.
    """
    source, predictions = group.source, group.predictions
    prediction_ids = np.concatenate(
        [units.ids for prediction in predictions for units in prediction.embedded]
    )
    source_ids = source.ids if source in embeddings else source.ids[:0]
    occurring = np.empty(0, dtype=np.int64)
    if source.are_words:
        occurring = np.flatnonzero(np.concatenate([units.occurring for units in predictions]))
    return [prediction_ids, source_ids, occurring]


def _match_group(
    group: SourceGroup, embeddings: Embeddings, placed: _OnDevice, normalize: bool
) -> list[MatchedPair]:
    sets = [units for prediction in group.predictions for units in prediction.embedded]
    summary_embeddings = torch.cat([embeddings[units] for units in sets], dim=1)
    source_embeddings = embeddings.get(group.source, summary_embeddings[:, :0])
    all_matches = match(
        summary_embeddings,
        source_embeddings,
        placed.prediction_ids,
        placed.source_ids,
        normalize=normalize,
    )
    matches = dict(zip(sets, all_matches.split([len(units) for units in sets]), strict=True))
    if group.source.are_words:
        sizes = [int(prediction.occurring.sum()) for prediction in group.predictions]
        checked = all_matches.only(placed.occurring).split(sizes)
    else:
        checked = [matches[prediction.checked] for prediction in group.predictions]
    return [
        MatchedPair(
            source=group.source,
            prediction=prediction,
            checked=occurring if occurring.units else matches[prediction.checked],
            every=matches[prediction.every],
        )
        for prediction, occurring in zip(group.predictions, checked, strict=True)
    ]


def matches_to_host(pairs: Sequence[MatchedPair]) -> list[MatchedPair]:
    """The same pairs with their matches on the CPU: one copy from the device for each field, for
    all pairs.
    """
    matches = [*(pair.checked for pair in pairs), *(pair.every for pair in pairs)]
    fields = (to_host(values) for values in zip(*matches, strict=True))
    on_host = list(map(Matches._make, zip(*fields, strict=True)))
    return [
        replace(pair, checked=checked, every=every)
        for pair, checked, every in zip(
            pairs, on_host[: len(pairs)], on_host[len(pairs) :], strict=True
        )
    ]


def match(
    prediction: Tensor,
    source: Tensor,
    prediction_ids: Tensor,
    source_ids: Tensor,
    *,
    normalize: bool = False,
    most_products: int = MOST_PRODUCTS,
) -> Matches:
    """Finds the best matches of each summary unit, by the plain dot product (section 2) in float32,
    of any dtype.

    Args:
        prediction, source: embeddings of summary units, of shape (l, s, d), and of all source
            units, of shape (l, t, d).
        prediction_ids, source_ids: int64 of shape (s,) and (t,).
        normalize: scale embeddings to length one first (appendix C).
        most_products: dot products that are computed together, so that memory does not grow with
            the product of both lengths.

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.
    """
    layers, rows, _ = prediction.shape
    columns = source.shape[1]
    width = max(1, min(columns, most_products // max(1, layers)))
    height = max(1, min(rows, most_products // max(1, layers * width)))
    tolerance = TIE_TOLERANCE.get(source.dtype, TIE_TOLERANCE[torch.float32])
    if not normalize and columns:
        tolerance = tolerance * torch.linalg.vector_norm(source, dim=-1, dtype=torch.float32).amax(
            -1, keepdim=True
        )
    parts = [
        _match_rows(_floats(part, normalize), source, ids, source_ids, normalize, width, tolerance)
        for part, ids in zip(
            torch.split(prediction, height, dim=1), torch.split(prediction_ids, height), strict=True
        )
    ]
    return parts[0] if len(parts) == 1 else Matches.cat(parts)


def _match_rows(
    prediction: Tensor,
    source: Tensor,
    prediction_ids: Tensor,
    source_ids: Tensor,
    normalize: bool,
    width: int,
    tolerance: Tensor | float,
) -> Matches:
    """Matches a block of summary rows; the source comes in blocks of ``width`` columns.
    ``tolerance`` is the tolerance of ties per unit of length in the summary, of shape (l, 1) or a
    number.
    """
    same = prediction.new_full(prediction.shape[:2], -torch.inf)  # (l, s)
    other = same.clone()
    same_at = torch.zeros_like(same, dtype=torch.int64)
    other_at = same_at.clone()
    winners, winner_ties, nearly_best = same_at.clone(), same_at.clone(), same_at.clone()
    blocks = range(0, source.shape[1], width)

    def products(start: int) -> tuple[Tensor, Tensor]:
        """Dot products (l, s, block) with a block of the source, once for the same id and once for
        another.
        """
        dots = prediction @ _floats(source[:, start : start + width], normalize).transpose(1, 2)
        equal = prediction_ids[:, None] == source_ids[None, start : start + width]  # (s, block)
        return dots.masked_fill(~equal, -torch.inf), dots.masked_fill_(equal, -torch.inf)

    same_products = other_products = prediction.new_empty(*prediction.shape[:2], 0)
    for start in blocks:
        same_products, other_products = products(start)
        _keep_best(same, same_at, same_products, start)
        _keep_best(other, other_at, other_products, start)
    rounding = tolerance * torch.linalg.vector_norm(prediction, dim=-1)  # (l, s)
    least = torch.maximum(same, other) - rounding
    for start in blocks:  # once more, now that the best matches are known
        if len(blocks) > 1:
            same_products, other_products = products(start)
        winners += _above(other_products, same)
        winner_ties += _above(other_products, same - rounding) - _above(
            other_products, same + rounding
        )
        nearly_best += _above(same_products, least) + _above(other_products, least)
    return Matches(
        same=same,
        same_at=same_at,
        other=other,
        other_at=other_at,
        winners=winners,
        ties=(other - same).abs() <= rounding,
        winner_ties=winner_ties,
        best_ties=nearly_best > 1,
    )


def _above(products: Tensor, bound: Tensor) -> Tensor:
    return (products > bound[..., None]).sum(-1)


def _keep_best(best: Tensor, best_at: Tensor, candidates: Tensor, start: int) -> None:
    """Updates, in place, the best values so far (l, s) with the maxima of a block (l, s, block)."""
    values, columns = candidates.max(dim=-1)
    better = values > best
    torch.where(better, values, best, out=best)
    torch.where(better, columns + start, best_at, out=best_at)


def _floats(embeddings: Tensor, normalize: bool) -> Tensor:
    embeddings = embeddings.to(torch.float32)
    return torch.nn.functional.normalize(embeddings, dim=-1) if normalize else embeddings
