"""What scoring costs, counted before it starts: tokens, windows, positions, and what time grows with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from estime_metric.config import EstimeConfig
from estime_metric.engine.chunking import Chunk
from estime_metric.engine.loading import EncoderInfo
from estime_metric.engine.masking import mask_units


@dataclass(frozen=True, slots=True)
class Work:
    """What some pairs give the encoder to do; ``+`` joins that of several calls.

    All of it grows in proportion to the texts: a long source takes ``distance * window / (window - 2 * margin)``
    positions a token, 10.3 by default, at most. Only the dot products of a pair, which take little beside that, grow
    with the product of both lengths.
    """

    tokens: int = 0  # of the texts, equal ones of a call counted once
    windows: int = 0  # inputs of the encoder
    positions: int = 0  # tokens in all windows, special ones included
    cost: float = 0.0  # what time grows with: products of each position with the weights and its window's positions
    units: int = 0  # embedded at once, at most
    longest: tuple[int, float] = (0, 0.0)  # tokens and cost of the longest source

    def __add__(self, other: Work) -> Work:
        return Work(
            self.tokens + other.tokens,
            self.windows + other.windows,
            self.positions + other.positions,
            self.cost + other.cost,
            max(self.units, other.units),
            max(self.longest, other.longest),
        )


def work_of(chunks: Iterable[Chunk], config: EstimeConfig, info: EncoderInfo) -> Work:
    """The work of some chunks, tokenized, not encoded, none of it cached; ``config`` has nothing left open."""
    work = Work()
    for chunk in chunks:
        encoded = chunk.sources + chunk.summaries
        tokens = sum(len(source.units.tokens) for source in chunk.sources)
        tokens += sum(len(summary.units.tokens) for _, summaries in chunk.groups for summary in summaries)
        work += Work(tokens=tokens, units=sum(len(one.units) for one in encoded))
        for number, one in enumerate(encoded):
            lengths = [len(window) + info.special.around for window in mask_units(one.units, config).windows]
            cost = float(sum(length * (6 * info.width + length) for length in lengths))
            longest = (len(one.units.tokens), cost) if number < len(chunk.sources) else (0, 0.0)
            work += Work(windows=len(lengths), positions=sum(lengths), cost=cost, longest=longest)
    return work
