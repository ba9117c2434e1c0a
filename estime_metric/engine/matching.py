"""Embeddings -> matches: for each summary unit its best matches in the source.

Axes: ``l`` layers, ``g`` sources, ``s`` summary units, ``t`` source units, ``d`` hidden width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from estime_metric.engine.embedding import Embeddings
from estime_metric.engine.encoder.device import put_all, to_host
from estime_metric.engine.pairs import PairBatch, PredictionUnits, SourceGroup
from estime_metric.engine.units import IntArray, Units

MOST_PRODUCTS = 4_000_000  # dot products that are computed together: 16 MB in float32
MOST_TOGETHER = 2_000_000  # of several sources: more would not stay in the caches of a CPU
MOST_NUMBERS = 16_000_000  # of the embeddings that are padded for it: 64 MB in float32

#: The id of what is padded; the ids of tokens are 0 and more.
PADDING = -1

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

    def only(self, rows: Tensor) -> Matches:
        """The matches of some summary units; ``rows`` is int64."""
        return Matches._make(values[:, rows] for values in self)


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


@dataclass(frozen=True, eq=False, slots=True)
class MatchedGroups:
    """Some sources with their summaries, matched in one product.

    Attributes:
        pairs: each summary with its source.
        matches: matches of all units that were embedded, of shape (l, n), with padding.
        checked, every: for each pair the units of ``matches`` that are its `MatchedPair.checked` and
            ``every``.
        checked_owner, every_owner: for each unit the number of the pair that it is among ``checked``
            and ``every`` of, the number of pairs if there is none; int64 of shape (n,).
    """

    pairs: list[tuple[Units, PredictionUnits]]
    matches: Matches
    checked: list[IntArray]
    every: list[IntArray]
    checked_owner: Tensor
    every_owner: Tensor

    def by_pair(self) -> list[MatchedPair]:
        """The matches of each pair."""
        device = self.matches.same.device
        checked, every = put_all(self.checked, device), put_all(self.every, device)
        return [
            MatchedPair(
                source, prediction, self.matches.only(of_checked), self.matches.only(of_every)
            )
            for (source, prediction), of_checked, of_every in zip(
                self.pairs, checked, every, strict=True
            )
        ]


def match_batch(
    batch: PairBatch, embeddings: Embeddings, *, normalize: bool
) -> list[MatchedGroups]:
    """The matches of every pair of a batch; one product for several sources, padded.

    Args:
        batch: the pairs.
        embeddings: those of its sets of units, by `Embedder.embed`.
        normalize: scale embeddings to length one first (appendix C).
    """
    groups = [group for group in batch.groups if group.predictions]
    return [
        _match_groups(together, embeddings, normalize) for together in _together(groups, embeddings)
    ]


def _together(groups: list[SourceGroup], embeddings: Embeddings) -> Iterator[list[SourceGroup]]:
    """Groups whose products, and whose embeddings, are few enough to be computed together; those with
    long sources first, so that neighbors need little padding.
    """
    if not groups:
        return
    layers, _, width = embeddings[groups[0].predictions[0].checked].shape
    together: list[SourceGroup] = []
    longest = 0  # the units of the longest source, and the most of the summaries of one
    most_units = 0
    for group in sorted(groups, key=lambda group: len(group.source), reverse=True):
        columns = max(longest, len(group.source))
        rows = max(most_units, group.embedded_units)
        products = (len(together) + 1) * layers * rows * columns
        numbers = (len(together) + 1) * layers * (rows + columns) * width
        if together and (products > MOST_TOGETHER or numbers > MOST_NUMBERS):
            yield together
            together, columns, rows = [], len(group.source), group.embedded_units
        together.append(group)
        longest, most_units = columns, rows
    yield together


def _match_groups(
    groups: list[SourceGroup], embeddings: Embeddings, normalize: bool
) -> MatchedGroups:
    sources = [group.source for group in groups]
    sets = [list(group.embedded) for group in groups]
    of_summaries = [embeddings[units] for group_sets in sets for units in group_sets]
    none = of_summaries[0][:, :0]
    # A source without embeddings has no units here: no unit of its summaries was embedded, though a
    # later batch may need it.
    of_sources = [embeddings.get(source, none) for source in sources]
    rows = _Padding([sum(map(len, group_sets)) for group_sets in sets])
    columns = _Padding([states.shape[1] for states in of_sources])
    ids = [units.ids for group_sets in sets for units in group_sets]
    source_ids = [source.ids[:size] for source, size in zip(sources, columns.sizes, strict=True)]
    pairs = [(group.source, prediction) for group in groups for prediction in group.predictions]
    checked, every = _positions(groups, rows)
    arrays = (
        rows.index,
        columns.index,
        rows.pad(ids),
        columns.pad(source_ids),
        _owners(checked, rows.index.size),
        _owners(every, rows.index.size),
    )
    placed = put_all([array.ravel() for array in arrays], none.device)  # one copy to the device
    row_index, column_index, row_ids, column_ids = (
        values.view(array.shape) for values, array in zip(placed, arrays[:4], strict=False)
    )
    matches = match(
        _padded(of_summaries, row_index),
        _padded(of_sources, column_index),
        row_ids,
        column_ids,
        normalize=normalize,
    )
    return MatchedGroups(
        pairs=pairs,
        matches=Matches._make(values.flatten(1) for values in matches),
        checked=checked,
        every=every,
        checked_owner=placed[4],
        every_owner=placed[5],
    )


class _Padding:
    """Rows of different sizes, each padded to the longest by repeating its last element.

    ``index`` says for each element, (g, longest), which it is of all rows one after the other.
    """

    def __init__(self, sizes: list[int]) -> None:
        self.sizes = sizes
        each = np.asarray(sizes, dtype=np.int64)[:, None]
        column = np.arange(max(sizes), dtype=np.int64)
        start = np.cumsum(each, axis=0) - each
        self.is_padded = column >= each
        self.index: IntArray = np.maximum(start + np.minimum(column, each - 1), 0)

    def pad(self, arrays: list[IntArray]) -> IntArray:
        """The elements of all rows, of shape (g, longest), `PADDING` where there is none."""
        together = np.concatenate(arrays)
        padded = np.full(self.index.shape, PADDING, dtype=np.int64)
        padded[~self.is_padded] = together
        return padded


def _padded(parts: list[Tensor], index: Tensor) -> Tensor:
    """Embeddings of all rows, each (l, n, d), one after the other -> (l, g, longest, d)."""
    states = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
    return states[:, None] if len(index) == 1 else states[:, index]


def _positions(groups: list[SourceGroup], rows: _Padding) -> tuple[list[IntArray], list[IntArray]]:
    """Where the units of each pair that are checked, and all of its units, are among the padded rows."""
    checked, every = [], []
    for number, group in enumerate(groups):
        start = number * rows.index.shape[1]
        for prediction in group.predictions:
            of_sets = []
            for units in prediction.embedded:
                of_sets.append(np.arange(start, start + len(units), dtype=np.int64))
                start += len(units)
            of_checked = of_sets[0]
            if group.source.are_words and prediction.occurring.any():
                of_checked = of_checked[prediction.occurring]
            checked.append(of_checked)
            every.append(of_sets[-1])
    return checked, every


def _owners(positions: list[IntArray], size: int) -> IntArray:
    """For each unit the number of the pair that has its position, the number of pairs if none has."""
    owners = np.full(size, len(positions), dtype=np.int64)
    for number, of_pair in enumerate(positions):
        owners[of_pair] = number
    return owners


def matches_to_host(groups: Sequence[MatchedGroups]) -> list[MatchedGroups]:
    """The same groups with their matches on the CPU: one copy from the device for each field."""
    fields = (to_host(values) for values in zip(*(group.matches for group in groups), strict=True))
    on_host = map(Matches._make, zip(*fields, strict=True))
    return [replace(group, matches=matches) for group, matches in zip(groups, on_host, strict=True)]


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
            units, of shape (l, t, d); of the summaries of several sources (l, g, s, d) and (l, g, t,
            d), padded by a unit of the same source.
        prediction_ids, source_ids: int64 of shape (s,) and (t,), or (g, s) and (g, t); `PADDING` for
            what is padded.
        normalize: scale embeddings to length one first (appendix C).
        most_products: dot products that are computed together, so that memory does not grow with
            the product of both lengths.

    Returns:
        Fields of shape (l, s) or (l, g, s).

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.
    """
    if not source.shape[-2]:  # nothing matches padding
        source, source_ids = (
            functional.pad(source, (0, 0, 0, 1)),
            functional.pad(source_ids, (0, 1), value=PADDING),
        )
    *together, rows, _ = prediction.shape
    columns = source.shape[-2]
    batches = max(1, math.prod(together))
    width = max(1, min(columns, most_products // batches))
    height = max(1, min(rows, most_products // (batches * width)))
    tolerance = TIE_TOLERANCE.get(source.dtype, TIE_TOLERANCE[torch.float32])
    if not normalize:
        tolerance = tolerance * torch.linalg.vector_norm(source, dim=-1, dtype=torch.float32).amax(
            -1, keepdim=True
        )
    parts = [
        _match_rows(_floats(part, normalize), source, ids, source_ids, normalize, width, tolerance)
        for part, ids in zip(
            torch.split(prediction, height, dim=-2),
            torch.split(prediction_ids, height, dim=-1),
            strict=True,
        )
    ]
    if len(parts) == 1:
        return parts[0]
    return Matches._make(torch.cat(values, dim=-1) for values in zip(*parts, strict=True))


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
    ``tolerance`` is the tolerance of ties per unit of length in the summary, of shape (l, 1), (l, g,
    1) or a number. The comments omit the axis of the sources.
    """
    # Comparisons write floats: on a CPU, that is several times faster than booleans. Ids and counts are whole
    # numbers far below 2**24, which float32 has exactly.
    without_padding = torch.where(source_ids == PADDING, -torch.inf, 0.0)[..., None, :]  # (1, t)
    rows, columns = prediction_ids.float()[..., None], source_ids.float()[..., None, :]

    def products(start: int) -> tuple[Tensor, Tensor]:
        """Dot products (l, s, block) with a block of the source, once for the same id and once for
        another.
        """
        block = slice(start, start + width)
        dots = prediction @ _floats(source[..., block, :], normalize).transpose(-2, -1)
        dots += without_padding[..., block]
        equal = torch.eq(rows, columns[..., block], out=torch.empty_like(dots[0])).bool()
        return dots.where(equal, -torch.inf), torch.where(equal, -torch.inf, dots)

    starts = range(0, source.shape[-2], width)
    same_products, other_products = products(0)
    same, same_at = same_products.max(dim=-1)  # (l, s)
    other, other_at = other_products.max(dim=-1)
    for start in starts[1:]:
        same_products, other_products = products(start)
        _keep_best(same, same_at, same_products, start)
        _keep_best(other, other_at, other_products, start)
    rounding = tolerance * torch.linalg.vector_norm(prediction, dim=-1)  # (l, s)
    least = torch.maximum(same, other) - rounding
    winners, from_below, from_above, nearly_best = (torch.zeros_like(same) for _ in range(4))
    for start in starts:  # once more, now that the best matches are known
        if len(starts) > 1:
            same_products, other_products = products(start)
        memory = torch.empty_like(other_products)
        winners += _count_above(other_products, same, memory)
        from_below += _count_above(other_products, same - rounding, memory)
        from_above += _count_above(other_products, same + rounding, memory)
        nearly_best += _count_above(other_products, least, memory)
        nearly_best += _count_above(same_products, least, memory)
    return Matches(
        same=same,
        same_at=same_at,
        other=other,
        other_at=other_at,
        winners=winners.long(),
        ties=(other - same).abs() <= rounding,
        winner_ties=(from_below - from_above).long(),
        best_ties=nearly_best > 1,
    )


def _count_above(products: Tensor, bound: Tensor, memory: Tensor) -> Tensor:
    """How many products (l, s, block) of each unit exceed its bound (l, s), as float32 of shape (l, s);
    ``memory`` has the shape of the products.
    """
    return torch.gt(products, bound[..., None], out=memory).sum(-1)


def _keep_best(best: Tensor, best_at: Tensor, candidates: Tensor, start: int) -> None:
    """Updates, in place, the best values so far (l, s) with the maxima of a block (l, s, block)."""
    values, columns = candidates.max(dim=-1)
    better = values > best
    torch.where(better, values, best, out=best)
    torch.where(better, columns + start, best_at, out=best_at)


def _floats(embeddings: Tensor, normalize: bool) -> Tensor:
    embeddings = embeddings.to(torch.float32)
    return functional.normalize(embeddings, dim=-1) if normalize else embeddings
