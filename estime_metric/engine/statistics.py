"""Matches -> statistics: a handful of numbers for each pair and layer, one function for each family of them.

Axes: ``l`` layers, ``n`` units of all summaries, padded, ``s`` summary units, ``t`` source units, ``d`` hidden width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder.device import put_all
from estime_metric.engine.encoder.precision import are_finite
from estime_metric.engine.matching import MOST_PRODUCTS, MatchedGroups, MatchedPair, Matches
from estime_metric.engine.pairs import PredictionUnits
from estime_metric.engine.units import Units
from estime_metric.measures import STATISTICS, TEMPERATURE
from estime_metric.wording.source import NOVELTY

#: Statistics by name, each of shape (pairs, l) or, if all layers share it, (pairs, 1).
Family = dict[str, Tensor]

#: Token ids, int64 of shape (n,) -> their context-free embeddings, of shape (n, d).
InputEmbeddings = Callable[[Tensor], Tensor]


def count_statistics(
    groups: Sequence[MatchedGroups], config: EstimeConfig, input_embeddings: InputEmbeddings
) -> Tensor:
    """The statistics of all pairs of some groups: float64 of shape (pairs, l, len(STATISTICS)) on the
    CPU, in the order of ``STATISTICS``. What ``config.measures`` do not need is NaN.
    """
    pairs = [pair for group in groups for pair in group.pairs]
    shape = len(pairs), len(config.layer_tuple)
    if not pairs:
        return torch.empty(*shape, len(STATISTICS), dtype=torch.float64)
    on_device = count_alarms(groups)
    if config.needs_every_unit or "soft" in config.measures:
        by_pair = [pair for group in groups for pair in group.by_pair()]
        if config.needs_every_unit:
            on_device |= count_order(by_pair)
        if "soft" in config.measures:
            on_device |= sum_cosines(by_pair, input_embeddings)
    counted = {**count_texts(pairs, config.min_tokens or 0), **_to_cpu(on_device)}
    if config.unit == "word":
        counted |= count_words_without_overlap(counted)
    if config.needs_every_unit:
        balance, positions = counted["balance"], counted["positions"]
        counted["coherence"] = tau_c(balance, positions, counted["tokens"])
        counted["alarms_alltokens"] = counted["unmatched"]
    if "soft" in config.measures and not are_finite(counted["cosines"]):
        name = config.soft_model or config.model
        raise FloatingPointError(
            f"The input embeddings of {name!r} are not finite, so `soft` cannot be computed."
        )
    undefined = torch.full(shape, torch.nan, dtype=torch.float64)
    return torch.stack(
        [counted[name].expand(shape) if name in counted else undefined for name in STATISTICS],
        dim=-1,
    )


def count_texts(pairs: Sequence[tuple[Units, PredictionUnits]], least: int) -> Family:
    """What does not depend on the layer, of each source and summary, on the CPU.

    These are ``overlap``, ``tokens`` and ``missing`` (how many units of a summary occur in its
    source, how many there are, and how many there are fewer than ``least``), and the measures of
    `SourceWording.novelty`.
    """
    rows = [
        (
            np.count_nonzero(prediction.occurring),
            len(prediction.units),
            max(0, least - len(prediction.units)),
            *source.wording.novelty(prediction.units.text).values(),
        )
        for source, prediction in pairs
    ]
    columns = torch.tensor(rows, dtype=torch.float64, device="cpu")[:, :, None].unbind(1)
    return dict(zip(("overlap", "tokens", "missing", *NOVELTY), columns, strict=True))


def count_alarms(groups: Sequence[MatchedGroups]) -> Family:
    """``alarms``, ``graded_alarms`` and ``winners`` over the units that are checked, and how many
    comparisons rounding can decide (``ties``, ``winner_ties``); over all units, alarms including
    the units that do not occur in the source (``unmatched``), and best matches that rounding can
    decide (``best_ties``). On the device.
    """
    counts, graded, counts_of_every = [], [], []
    for group in groups:
        matches, pairs = group.matches, len(group.pairs)
        checked = [matches.alarms.long(), matches.winners, matches.ties.long(), matches.winner_ties]
        every = [matches.alarms_or_unmatched.long(), matches.best_ties.long()]
        counts.append(_sums(torch.stack(checked), group.checked_owner, pairs))
        graded.append(_sums(graded_alarms(matches)[None], group.checked_owner, pairs))
        counts_of_every.append(_sums(torch.stack(every), group.every_owner, pairs))
    alarms, winners, ties, winner_ties = torch.cat(counts, dim=1)
    unmatched, best_ties = torch.cat(counts_of_every, dim=1)
    return {
        "alarms": alarms,
        "graded_alarms": torch.cat(graded, dim=1)[0],
        "winners": winners,
        "ties": ties,
        "winner_ties": winner_ties,
        "unmatched": unmatched,
        "best_ties": best_ties,
    }


def graded_alarms(matches: Matches) -> Tensor:
    """What each unit that is checked adds to ``graded_alarms``, 0 to 1, more than .5 for an alarm;
    float32 of shape (l, s).
    """
    return torch.sigmoid(-matches.relative_margin / TEMPERATURE)


def count_words_without_overlap(counted: Family) -> Family:
    """In a pair of words that overlap nowhere ``alarms`` are counted over all words, as the released
    code does; no word is checked then, so none is graded and none has winners.
    """
    overlaps = counted["overlap"] > 0
    return {
        "alarms": counted["alarms"].where(overlaps, counted["unmatched"]),
        **{
            name: counted[name].where(overlaps, 0.0)
            for name in ("graded_alarms", "winners", "winner_ties")
        },
    }


def count_order(pairs: Sequence[MatchedPair]) -> Family:
    """``balance`` (`concordance`) and ``positions`` (`distinct_positions`) of the best matches of
    all units, from which ``coherence`` is computed. On the device.
    """
    return {
        "balance": torch.stack([concordance(pair.every.best_at) for pair in pairs]),
        "positions": torch.stack([distinct_positions(pair.every.best_at) for pair in pairs]),
    }


def sum_cosines(pairs: Sequence[MatchedPair], input_embeddings: InputEmbeddings) -> Family:
    """``cosines``: see `cosine_sum`. On the device."""
    device = pairs[0].every.same.device
    predictions = put_all([pair.prediction.units.ids for pair in pairs], device)
    sources = put_all([pair.source.ids for pair in pairs], device)
    sums = [
        cosine_sum(input_embeddings(prediction), input_embeddings(source), pair.every.best_at)
        for pair, prediction, source in zip(pairs, predictions, sources, strict=True)
    ]
    return {"cosines": torch.stack(sums)}


def cosine_sum(prediction: Tensor, source: Tensor, best_at: Tensor) -> Tensor:
    """Sum over the summary units of the cosine between the context-free embeddings of the unit and
    of its best match.

    It is float32 of shape (l,), from embeddings of shape (s, d) and (t, d) and positions int64 of
    shape (l, s); 0 if either side is empty. Divided by ``s`` it is ``soft``. Source: Vasilyev &
    Bohannon, arXiv 2112.11638.
    """
    if not len(prediction) or not len(source):
        return torch.zeros(len(best_at), device=prediction.device)
    units = normalize(prediction.float(), dim=-1)  # (s, d)
    matched = normalize(source.float(), dim=-1)  # (t, d)
    return torch.stack([(units * matched[positions]).sum() for positions in best_at])


def concordance(best_at: Tensor, most_products: int = MOST_PRODUCTS) -> Tensor:
    """Pairs of units whose best matches follow one another as they do, less pairs in the other
    order; int64 of shape (l,), from positions int64 of shape (l, s).
    """
    units = best_at.shape[1]
    height = max(1, most_products // max(1, units))
    balance = best_at.new_zeros(len(best_at))
    for start in range(0, units, height):
        for layer, positions in enumerate(best_at):
            signs = torch.sign(positions[None, start:] - positions[start : start + height, None])
            balance[layer] += signs.triu(1).sum()
    return balance


def distinct_positions(best_at: Tensor) -> Tensor:
    """How many different positions are matched; int64 of shape (l,), from positions of shape (l, s)."""
    changes = best_at.sort(dim=-1).values.diff(dim=-1).ne(0).sum(-1)
    return changes + min(best_at.shape[1], 1)


def tau_c(balance: Tensor, positions: Tensor, units: Tensor) -> Tensor:
    """Kendall tau-c between the order of the summary units and the order of their best matches.

    ``2 (C - D) / (s^2 (m - 1) / m)`` with ``C - D`` from `concordance` and ``m`` different
    positions; float64 within -1 .. 1, 1 if the summary follows its source, 0 if the order is
    undefined: fewer than two units, or all matched to one position. Source: Stuart 1953; Vasilyev &
    Bohannon, arXiv 2112.11638.
    """
    whole = units**2 * (positions - 1) / positions.clamp(min=1)
    return torch.where(positions > 1, 2 * balance / whole.clamp(min=1), 0.0)


def _sums(values: Tensor, owners: Tensor, pairs: int) -> Tensor:
    """Values of units, of shape (k, l, n) -> their sums over the units of each pair, (k, pairs, l)."""
    sums = values.new_zeros(*values.shape[:2], pairs + 1)  # the last one of what belongs to none
    return sums.index_add_(2, owners, values)[..., :pairs].transpose(1, 2)


def _to_cpu(on_device: Family) -> Family:
    """Statistics of a device as float64 on the CPU: one copy for integers, one for floats."""
    on_cpu: Family = {}
    for names in (
        [name for name, values in on_device.items() if not values.is_floating_point()],
        [name for name, values in on_device.items() if values.is_floating_point()],
    ):
        together = torch.stack([on_device[name] for name in names]).cpu().double()
        on_cpu |= dict(zip(names, together, strict=True))
    return on_cpu
