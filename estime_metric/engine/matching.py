"""Best matches between the units of a summary and those of its source; pure tensors.

Axes: ``l`` layers, ``s`` summary units, ``t`` source units, ``d`` hidden width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

#: Most dot products held at once: 4 million in float32 are 16 MB.
CHUNK = 4_000_000

#: Two dot products within this relative distance may change places by rounding alone.
TIE_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """For each summary unit its best matches in the source.

    Attributes:
        same: ``s(i)`` of Eq. 2, the greatest dot product with a source unit of the same id; -inf where there is none;
            float32 of shape (l, s).
        same_at: position of that source unit, the first where several are equal; int64 of shape (l, s).
        other: ``o(i)``, the greatest dot product with a source unit of another id, likewise.
        other_at: its position, likewise.
        winners: how many source units of another id exceed ``same`` (the inner sum of Eq. 3); int64 of shape (l, s).
    """

    same: Tensor
    same_at: Tensor
    other: Tensor
    other_at: Tensor
    winners: Tensor

    @property
    def alarms(self) -> Tensor:
        """Where a source unit of another id matches best, strictly (Eq. 1); bool of shape (l, s)."""
        return self.other > self.same

    @property
    def ties(self) -> Tensor:
        """Where ``same`` and ``other`` are so close that rounding may change the verdict; bool of shape (l, s)."""
        scale = torch.maximum(self.same.abs(), self.other.abs())
        return scale.isfinite() & ((self.other - self.same).abs() <= TIE_TOLERANCE * scale)

    def statistics(self) -> dict[str, Tensor]:
        """Sums over the summary units, each of shape (l,)."""
        return {
            "alarms": self.alarms.sum(-1),
            "winners": self.winners.sum(-1),
            "overlap": self.same.isfinite().sum(-1),
            "ties": self.ties.sum(-1),
        }


def match(
    summary: Tensor,
    source: Tensor,
    summary_ids: Tensor,
    source_ids: Tensor,
    *,
    normalize: bool = False,
    chunk: int = CHUNK,
) -> Matches:
    """Finds the best matches of each summary unit.

    Similarity is the plain dot product (section 2), taken in float32 whatever dtype the embeddings have. Summary and
    source are walked through in chunks, so memory does not grow with their product.

    Args:
        summary: embeddings of summary units, of shape (l, s, d).
        source: embeddings of all source units, of shape (l, t, d).
        summary_ids: int64 of shape (s,).
        source_ids: int64 of shape (t,).
        normalize: scale embeddings to length one first (appendix C).
        chunk: most dot products held at once.

    Source: Vasilyev & Bohannon 2021, Eqs. 1 to 3.
    """
    layers, rows, _ = summary.shape
    columns = source.shape[1]
    width = max(1, min(columns, chunk // max(1, layers)))
    height = max(1, min(rows, chunk // max(1, layers * width)))
    parts = [
        _match_rows(_floats(part, normalize), source, ids, source_ids, normalize, width)
        for part, ids in zip(torch.split(summary, height, dim=1), torch.split(summary_ids, height), strict=True)
    ]
    if len(parts) == 1:
        return parts[0]
    fields = Matches.__dataclass_fields__
    return Matches(*(torch.cat([getattr(part, name) for part in parts], dim=1) for name in fields))


def _match_rows(
    summary: Tensor, source: Tensor, summary_ids: Tensor, source_ids: Tensor, normalize: bool, width: int
) -> Matches:
    """Matches a block of summary rows; the source comes in blocks of ``width`` columns."""
    same = summary.new_full(summary.shape[:2], -torch.inf)  # (l, s)
    other = same.clone()
    same_at = torch.zeros_like(same, dtype=torch.int64)
    other_at = same_at.clone()
    winners = same_at.clone()
    blocks = range(0, source.shape[1], width)

    def products(start: int) -> tuple[Tensor, Tensor]:
        """Dot products (l, s, block) with a block of the source, once for the same id and once for another."""
        dots = summary @ _floats(source[:, start : start + width], normalize).transpose(1, 2)
        equal = summary_ids[:, None] == source_ids[None, start : start + width]  # (s, block)
        return dots.masked_fill(~equal, -torch.inf), dots.masked_fill_(equal, -torch.inf)

    of_same = of_other = None
    for start in blocks:
        of_same, of_other = products(start)
        _keep_best(same, same_at, of_same, start)
        _keep_best(other, other_at, of_other, start)
    for start in blocks:  # once more, now that the best match of the same id is known
        if len(blocks) > 1:
            _, of_other = products(start)
        if of_other is not None:
            winners += (of_other > same[..., None]).sum(-1)
    return Matches(same, same_at, other, other_at, winners)


def _keep_best(best: Tensor, best_at: Tensor, candidates: Tensor, start: int) -> None:
    """Takes over, in place, the maxima of a block (l, s, block) that exceed the best so far (l, s)."""
    values, places = candidates.max(dim=-1)
    better = values > best
    best[better] = values[better]
    best_at[better] = places[better] + start


def _floats(embeddings: Tensor, normalize: bool) -> Tensor:
    embeddings = embeddings.to(torch.float32)
    return torch.nn.functional.normalize(embeddings, dim=-1) if normalize else embeddings
