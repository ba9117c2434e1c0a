"""Embeddings -> matches: for each summary unit its best matches in the source.

Axes: ``l`` layers, ``s`` summary units, ``t`` source units, ``d`` hidden width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from estime_metric.engine.encoder.memory import put_all, to_host
from estime_metric.engine.text.chunking import Chunk, EncodedUnits, SummaryUnits

CHUNK = 4_000_000  # most dot products held at once: 16 MB in float32

#: Two dot products with one embedding may change order by rounding alone where they are no further
#: apart than this share of the product of lengths, by the precision of the embeddings. In bfloat16
#: and float16 it is two units in the last place.
TIE_TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 2**-6, torch.float16: 2**-9}


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """For each summary unit its best matches in the source; each field is of shape (l, s).

    Attributes:
        same: ``s(i)`` of Eq. 2, the greatest dot product with a source unit of the same id; -inf
            where there is none; float32.
        same_at: position of that source unit, the first where several are equal; int64.
        other: ``o(i)``, the greatest dot product with a source unit of another id, likewise.
        other_at: its position, likewise.
        winners: how many source units of another id exceed ``same`` (the inner sum of Eq. 3);
            int64.
        ties: where ``same`` and ``other`` are so close that rounding may change the verdict; bool.
        winner_ties: how many source units of another id are as close to ``same``; int64.
        best_ties: where another source unit is as close to the best match of any id; bool.
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
    def best_at(self) -> Tensor:
        """Position of the best match of any id; the same id wins where both are equal; int64."""
        return torch.where(self.alarms, self.other_at, self.same_at)

    @property
    def alarms_or_unmatched(self) -> Tensor:
        """Alarms together with units whose id the source lacks, also where it is empty; bool."""
        return self.alarms | self.same.isneginf()

    def __len__(self) -> int:
        return self.same.shape[1]

    def only(self, rows: Tensor) -> Matches:
        """The matches of some summary units; ``rows`` is bool or int64."""
        return Matches(*(getattr(self, name)[:, rows] for name in self.__dataclass_fields__))

    @classmethod
    def cat(cls, parts: Sequence[Matches]) -> Matches:
        """The matches of all summary units of the parts, one after the other."""
        return cls(
            *(
                torch.cat([getattr(part, name) for part in parts], dim=1)
                for name in cls.__dataclass_fields__
            )
        )

    def split(self, sizes: Sequence[int]) -> list[Matches]:
        """The matches of so many summary units each, one after the other."""
        fields = (
            torch.split(getattr(self, name), list(sizes), dim=1)
            for name in self.__dataclass_fields__
        )
        return [Matches(*parts) for parts in zip(*fields, strict=True)]


@dataclass(frozen=True, eq=False, slots=True)
class MatchedPair:
    """A summary, its source and their matches."""

    source: EncodedUnits
    summary: SummaryUnits
    checked: Matches  # of the units that are checked; with words that overlap nowhere, of all
    every: Matches  # of all units; of those that are checked where no others were encoded


def match_chunk(chunk: Chunk, *, normalize: bool) -> list[MatchedPair]:
    """The matches of every pair of a chunk whose units have been encoded; one product for each
    source.
    """
    groups = [
        (source, summaries, _arrays(source, summaries))
        for source, summaries in chunk.groups
        if summaries
    ]
    if not groups:
        return []
    device = _embeddings(groups[0][1])[0].device
    positions = iter(put_all([array for *_, arrays in groups for array in arrays], device))
    return [
        pair
        for source, summaries, arrays in groups
        for pair in _match_group(source, summaries, [next(positions) for _ in arrays], normalize)
    ]


def _embeddings(summaries: Sequence[SummaryUnits]) -> list[Tensor]:
    return [
        one.embeddings
        for summary in summaries
        for one in summary.encoded
        if one.embeddings is not None
    ]


def _arrays(source: EncodedUnits, summaries: Sequence[SummaryUnits]) -> list[NDArray[Any]]:
    """What the device has to know of a source and some of its summaries; int64 of shape (n,) each.

    Ids of the sets of units, ids of the source, and where the units are words the rows of those
    that occur in it. No unit of these summaries was encoded where the source has no embeddings; a
    later chunk may need it.
    """
    ids = np.concatenate([one.units.ids for summary in summaries for one in summary.encoded])
    arrays = [ids, source.units.ids[:0] if source.embeddings is None else source.units.ids]
    if source.units.of_words:
        arrays.append(np.flatnonzero(np.concatenate([summary.checked for summary in summaries])))
    return arrays


def _match_group(
    source: EncodedUnits,
    summaries: Sequence[SummaryUnits],
    positions: Sequence[Tensor],
    normalize: bool,
) -> list[MatchedPair]:
    ids, source_ids, *overlapping = positions
    embeddings = torch.cat(_embeddings(summaries), dim=1)
    of_source = embeddings[:, :0] if source.embeddings is None else source.embeddings
    found = match(embeddings, of_source, ids, source_ids, normalize=normalize)
    matched = iter(
        found.split([len(one.units) for summary in summaries for one in summary.encoded])
    )
    by_summary = [[next(matched) for _ in summary.encoded] for summary in summaries]
    checked = [of[0] for of in by_summary]
    if overlapping:
        checked = found.only(overlapping[0]).split(
            [int(summary.checked.sum()) for summary in summaries]
        )
    return [
        MatchedPair(source, summary, some if len(some) else of[0], of[-1])
        for summary, of, some in zip(summaries, by_summary, checked, strict=True)
    ]


def matches_to_host(pairs: Sequence[MatchedPair]) -> list[MatchedPair]:
    """The same pairs with their matches on the CPU: one copy from the device for each field, for
    all pairs.
    """
    sets = [matches for pair in pairs for matches in (pair.checked, pair.every)]
    fields = (
        to_host([getattr(one, name) for one in sets]) for name in Matches.__dataclass_fields__
    )
    found = [Matches(*values) for values in zip(*fields, strict=True)]
    matched = zip(pairs, found[::2], found[1::2], strict=True)
    return [replace(pair, checked=checked, every=every) for pair, checked, every in matched]


def match(
    summary: Tensor,
    source: Tensor,
    summary_ids: Tensor,
    source_ids: Tensor,
    *,
    normalize: bool = False,
    chunk: int = CHUNK,
) -> Matches:
    """Finds the best matches of each summary unit, by the plain dot product (section 2) in float32,
    of any dtype.

    Args:
        summary, source: embeddings of summary units, of shape (l, s, d), and of all source units,
            of shape (l, t, d).
        summary_ids, source_ids: int64 of shape (s,) and (t,).
        normalize: scale embeddings to length one first (appendix C).
        chunk: most dot products held at once, so that memory does not grow with the product of both
            lengths.

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.
    """
    layers, rows, _ = summary.shape
    columns = source.shape[1]
    width = max(1, min(columns, chunk // max(1, layers)))
    height = max(1, min(rows, chunk // max(1, layers * width)))
    tolerance = TIE_TOLERANCE.get(source.dtype, TIE_TOLERANCE[torch.float32])
    if not normalize and columns:
        tolerance = tolerance * torch.linalg.vector_norm(source, dim=-1, dtype=torch.float32).amax(
            -1, keepdim=True
        )
    parts = [
        _match_rows(_floats(part, normalize), source, ids, source_ids, normalize, width, tolerance)
        for part, ids in zip(
            torch.split(summary, height, dim=1), torch.split(summary_ids, height), strict=True
        )
    ]
    return parts[0] if len(parts) == 1 else Matches.cat(parts)


def _match_rows(
    summary: Tensor,
    source: Tensor,
    summary_ids: Tensor,
    source_ids: Tensor,
    normalize: bool,
    width: int,
    tolerance: Tensor | float,
) -> Matches:
    """Matches a block of summary rows; the source comes in blocks of ``width`` columns.
    ``tolerance`` is that of ties for each unit of length in the summary, of shape (l, 1) or a
    number.
    """
    same = summary.new_full(summary.shape[:2], -torch.inf)  # (l, s)
    other = same.clone()
    same_at = torch.zeros_like(same, dtype=torch.int64)
    other_at = same_at.clone()
    winners, winner_ties, nearly_best = same_at.clone(), same_at.clone(), same_at.clone()
    blocks = range(0, source.shape[1], width)

    def products(start: int) -> tuple[Tensor, Tensor]:
        """Dot products (l, s, block) with a block of the source, once for the same id and once for
        another.
        """
        dots = summary @ _floats(source[:, start : start + width], normalize).transpose(1, 2)
        equal = summary_ids[:, None] == source_ids[None, start : start + width]  # (s, block)
        return dots.masked_fill(~equal, -torch.inf), dots.masked_fill_(equal, -torch.inf)

    of_same = of_other = summary.new_empty(*summary.shape[:2], 0)
    for start in blocks:
        of_same, of_other = products(start)
        _keep_best(same, same_at, of_same, start)
        _keep_best(other, other_at, of_other, start)
    rounding = tolerance * torch.linalg.vector_norm(summary, dim=-1)  # (l, s)
    least = torch.maximum(same, other) - rounding
    for start in blocks:  # once more, now that the best matches are known
        if len(blocks) > 1:
            of_same, of_other = products(start)
        winners += _above(of_other, same)
        winner_ties += _above(of_other, same - rounding) - _above(of_other, same + rounding)
        nearly_best += _above(of_same, least) + _above(of_other, least)
    ties = (other - same).abs() <= rounding
    return Matches(same, same_at, other, other_at, winners, ties, winner_ties, nearly_best > 1)


def _above(products: Tensor, bound: Tensor) -> Tensor:
    return (products > bound[..., None]).sum(-1)


def _keep_best(best: Tensor, best_at: Tensor, candidates: Tensor, start: int) -> None:
    """Takes over, in place, the maxima of a block (l, s, block) that exceed the best so far (l, s)."""
    values, columns = candidates.max(dim=-1)
    better = values > best
    torch.where(better, values, best, out=best)
    torch.where(better, columns + start, best_at, out=best_at)


def _floats(embeddings: Tensor, normalize: bool) -> Tensor:
    embeddings = embeddings.to(torch.float32)
    return torch.nn.functional.normalize(embeddings, dim=-1) if normalize else embeddings
