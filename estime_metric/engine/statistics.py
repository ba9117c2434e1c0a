"""Matches -> statistics: a handful of numbers for each pair and layer.

Axes: ``l`` layers, ``s`` summary units, ``t`` source units, ``d`` hidden width, ``k`` statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder.memory import put, put_all
from estime_metric.engine.matching import CHUNK, MatchedPair, Matches
from estime_metric.measures import STATISTICS

Automaton = list[dict[Hashable, int]]  # state -> unit -> next state; state 0 is the beginning


def count_statistics(
    pairs: Sequence[MatchedPair], config: EstimeConfig, input_embeddings: Callable[[Tensor], Tensor]
) -> Tensor:
    """The statistics of some pairs: float64 of shape (len(pairs), l, k) on the CPU, in the order of
    ``STATISTICS``.

    What ``config.measures`` do not need is NaN. ``input_embeddings`` turns token ids, int64 of
    shape (n,), into the context-free embeddings that ``soft`` compares, of shape (n, d).
    """
    shape = len(pairs), len(config.layer_tuple)
    named = {name: torch.full(shape, torch.nan, dtype=torch.float64) for name in STATISTICS}
    if not pairs:
        return torch.stack(list(named.values()), dim=-1)
    sets = [matches for pair in pairs for matches in (pair.checked, pair.every)]
    units = Matches.cat(sets)
    flags = torch.stack(  # (l, units, 6)
        [
            units.alarms,
            units.winners,
            units.ties,
            units.winner_ties,
            units.alarms_or_unmatched,
            units.best_ties,
        ],
        dim=-1,
    )
    owner = put(np.repeat(np.arange(len(sets)), [len(one) for one in sets]), flags.device)
    counts = flags.new_zeros(len(sets), shape[1], 6).index_add_(0, owner, flags.transpose(0, 1))
    of_pairs = [
        *counts[::2, :, :4].unbind(-1),
        *counts[1::2, :, 4:].unbind(-1),
    ]  # of the units checked; of all
    if config.needs_every_unit:
        of_pairs += torch.stack([_order(pair.every.best_at) for pair in pairs], dim=1).unbind(0)
    alarms, winners, ties, winner_ties, alarms_of_all, best_ties, *order = (
        torch.stack(of_pairs).cpu().double()
    )
    overlap, tokens = (
        torch.tensor(sizes, dtype=torch.float64)[:, None].expand(shape)
        for sizes in (
            [int(pair.summary.checked.sum()) for pair in pairs],
            [len(pair.summary.units) for pair in pairs],
        )
    )
    if (
        config.unit == "word"
    ):  # with words that overlap nowhere the released code counts all of them
        alarms = torch.where(overlap > 0, alarms, alarms_of_all)
    named |= {"alarms": alarms, "winners": winners, "overlap": overlap, "tokens": tokens}
    named |= {"ties": ties, "winner_ties": winner_ties}
    if config.needs_every_unit:
        named |= {
            "alarms_alltokens": alarms_of_all,
            "coherence": _tau_c(order[0], order[1], tokens),
        }
        named["best_ties"] = best_ties
    if config.needs_fragments:
        lengths = list(_fragments(pairs))
        for name, power in (("copied", 1), ("copied_squares", 2)):
            summed = torch.tensor(
                [sum(length**power for length in of) for of in lengths], dtype=torch.float64
            )
            named[name] = summed[:, None].expand(shape)
    if "soft" in config.measures:
        texts = [units.ids for pair in pairs for units in (pair.summary.units, pair.source.units)]
        ids = put_all(texts, flags.device)
        sums = [
            cosine_sum(input_embeddings(summary), input_embeddings(source), pair.every.best_at)
            for pair, summary, source in zip(pairs, ids[::2], ids[1::2], strict=True)
        ]
        named["cosines"] = torch.stack(sums).cpu().to(torch.float64)
        if not named["cosines"].isfinite().all():
            name = config.soft_model or config.model
            raise FloatingPointError(
                f"The input embeddings of {name!r} are not finite, so there is no `soft`."
            )
    return torch.stack([named[name] for name in STATISTICS], dim=-1)


def cosine_sum(summary: Tensor, source: Tensor, best_at: Tensor) -> Tensor:
    """Sum over the summary units of the cosine between their context-free embedding and that of
    their best match.

    It is float32 of shape (l,), from embeddings of shape (s, d) and (t, d) and positions int64 of
    shape (l, s); 0 where either side is empty. Divided by ``s`` it is ``soft``. Source: Vasilyev &
    Bohannon, arXiv 2112.11638.
    """
    if not len(summary) or not len(source):
        return torch.zeros(len(best_at), device=summary.device)
    units, matched = (
        normalize(summary.float(), dim=-1),
        normalize(source.float(), dim=-1),
    )  # (s, d), (t, d)
    return torch.stack([(units * matched[row]).sum() for row in best_at])


def _fragments(pairs: Sequence[MatchedPair]) -> Iterator[list[int]]:
    """The lengths of each summary's extractive fragments; the pairs of a source follow one another."""
    for source, of_source in groupby(pairs, key=attrgetter("source")):
        automaton = automaton_of(source.units.names.tolist())
        for pair in of_source:
            units = pair.summary.units
            names = [
                name if known else None
                for name, known in zip(units.names.tolist(), units.known, strict=True)
            ]
            yield fragment_lengths(names, automaton)


def _order(best_at: Tensor, chunk: int = CHUNK) -> Tensor:
    """Concordant less discordant pairs of units, and how many positions are matched; int64 of shape
    (2, l).
    """
    units = best_at.shape[1]
    height = max(1, chunk // max(1, units))
    order = best_at.new_zeros(len(best_at))
    for start in range(0, units, height):
        for layer, positions in enumerate(best_at):
            signs = torch.sign(positions[None, start:] - positions[start : start + height, None])
            order[layer] += signs.triu(1).sum()
    distinct = best_at.sort(dim=-1).values.diff(dim=-1).ne(0).sum(-1) + min(units, 1)
    return torch.stack([order, distinct])


def _tau_c(order: Tensor, distinct: Tensor, units: Tensor) -> Tensor:
    """Kendall tau-c between the order of the summary units and that of their best matches, from
    what `_order` counts.

    ``2 (C - D) / (s^2 (m - 1) / m)`` with ``C - D`` concordant less discordant pairs of units and
    ``m`` different positions; float64 within -1 .. 1, 1 where the summary follows its source, 0
    where there is no order to speak of: fewer than two units, or all matched to one position.
    Source: Stuart 1953; Vasilyev & Bohannon, arXiv 2112.11638.
    """
    whole = units**2 * (distinct - 1) / distinct.clamp(min=1)
    return torch.where(distinct > 1, 2 * order / whole.clamp(min=1), 0.0)


def automaton_of(source: Iterable[Hashable]) -> Automaton:
    """A suffix automaton, whose walks are the runs of units that occur in the source, in linear
    time and space.

    Source: Blumer et al. 1985, The smallest automaton recognizing the subwords of a text.
    """
    steps: Automaton = [{}]
    links, lengths = [-1], [0]
    last = 0
    for unit in source:
        new, state = len(steps), last
        steps.append({})
        links.append(0)
        lengths.append(lengths[last] + 1)
        while state >= 0 and unit not in steps[state]:
            steps[state][unit] = new
            state = links[state]
        if state >= 0:
            old = steps[state][unit]
            if lengths[old] == lengths[state] + 1:
                links[new] = old
            else:
                copy = len(steps)
                steps.append(steps[old].copy())
                links.append(links[old])
                lengths.append(lengths[state] + 1)
                while state >= 0 and steps[state].get(unit) == old:
                    steps[state][unit] = copy
                    state = links[state]
                links[new] = links[old] = copy
        last = new
    return steps


def fragment_lengths(summary: Sequence[Hashable | None], source: Automaton) -> list[int]:
    """The lengths of the extractive fragments of a summary, in its order; a unit ``None`` is never
    copied.

    From left to right, the longest run of units that begins here and occurs anywhere in the source
    is a fragment; the next one begins behind it. The published procedure passes over occurrences
    within a run that it has just tried, so that in a source that repeats itself ("no no no way") it
    may find a shorter run than the longest.

    Source: Grusky, Naaman & Artzi 2018 (Newsroom), section 4 and Fig. 3.
    """
    lengths = []
    start = 0
    while start < len(summary):
        state, stop = 0, start
        while stop < len(summary) and (unit := summary[stop]) is not None and unit in source[state]:
            state = source[state][unit]
            stop += 1
        if stop > start:
            lengths.append(stop - start)
        start = max(stop, start + 1)
    return lengths
