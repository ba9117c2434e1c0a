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

    @property
    def best_at(self) -> Tensor:
        """Position of the best match of any id; the same id wins where both are equal; int64 of shape (l, s)."""
        return torch.where(self.alarms, self.other_at, self.same_at)

    @property
    def alarms_or_unmatched(self) -> Tensor:
        """Alarms together with units whose id the source lacks, also where it is empty; int64 of shape (l,)."""
        return (self.alarms | self.same.isneginf()).sum(-1)

    def only(self, rows: Tensor) -> Matches:
        """The matches of some summary units; ``rows`` is bool or int64."""
        return Matches(*(getattr(self, name)[:, rows] for name in self.__dataclass_fields__))

    def counts(self) -> dict[str, Tensor]:
        """Alarms, winners, ties and how many units there are, each of shape (l,)."""
        return {
            "alarms": self.alarms.sum(-1),
            "winners": self.winners.sum(-1),
            "ties": self.ties.sum(-1),
            "checked": torch.full((len(self.same),), self.same.shape[1]),
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


def cosine_sum(summary: Tensor, source: Tensor, best_at: Tensor) -> Tensor:
    """Sum over the summary units of the cosine between their context-free embedding and that of their best match.

    Args:
        summary: input embeddings of the summary units, of shape (s, d).
        source: those of the source units, of shape (t, d).
        best_at: best contextual match of each summary unit, int64 of shape (l, s).

    Returns:
        float32 of shape (l,); 0 where either side is empty. Divided by ``s`` it is ``soft``.

    Source: Vasilyev & Bohannon, arXiv 2112.11638.
    """
    if not len(summary) or not len(source):
        return torch.zeros(len(best_at), device=summary.device)
    units = _floats(summary, normalize=True)  # (s, d)
    matched = _floats(source, normalize=True)
    return torch.stack([(units * matched[row]).sum() for row in best_at])


def kendall_tau_c(best_at: Tensor, chunk: int = CHUNK) -> Tensor:
    """Kendall tau-c between the order of the summary units and that of their best matches.

    ``2 (C - D) / (s^2 (m - 1) / m)``, where ``C`` and ``D`` count the concordant and the discordant pairs of units and
    ``m`` is how many different places are matched.

    Args:
        best_at: best match of each summary unit, in the order of the summary, int64 of shape (l, s).
        chunk: most pairs held at once.

    Returns:
        float64 of shape (l,), within -1 .. 1, 1 where the summary follows its source; 0 where there is no order to
        speak of: fewer than two units, or all matched to one place.

    Source: Stuart 1953; Vasilyev & Bohannon, arXiv 2112.11638.

    Example:
        >>> kendall_tau_c(torch.tensor([[3, 5, 9], [9, 5, 3], [5, 9, 3], [4, 4, 4]])).round(decimals=4).tolist()
        [1.0, -1.0, -0.3333, 0.0]
    """
    units = best_at.shape[1]
    height = max(1, chunk // max(1, units))
    taus = []
    for places in best_at:
        order = sum(
            (torch.sign(places[None, start:] - places[start : start + height, None]).triu(1).sum())
            for start in range(0, units, height)
        )
        distinct = len(torch.unique(places))
        whole = units**2 * (distinct - 1) / distinct if distinct > 1 else 0
        taus.append(2 * float(order) / whole if whole else 0.0)
    return torch.tensor(taus, dtype=torch.float64)


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
