"""What some pairs give the encoder to do, before anything is encoded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from estime_metric.config import EstimeConfig
from estime_metric.engine.text.masking import mask_units
from estime_metric.engine.text.pairs import PairBatch

if TYPE_CHECKING:
    from estime_metric.engine.encoder.loading import EncoderInfo


@dataclass(frozen=True, slots=True)
class Work:
    """What some pairs give the encoder to do; ``+`` joins the work of several calls.

    It grows in proportion to the texts: a long source needs at most ``distance * window / (window -
    2 * margin)`` positions per token, 10.3 by default.

    Attributes:
        tokens: tokens of the texts; equal texts of one call count once.
        windows: inputs of the encoder.
        positions: tokens in all windows, special ones included.
        cost: what time grows with: products of each position with the weights and with the
            positions of its window.
        units: the most units that are embedded together.
        longest_source: tokens of the longest source.
        longest_cost: cost of the longest source.
    """

    tokens: int = 0
    windows: int = 0
    positions: int = 0
    cost: float = 0.0
    units: int = 0
    longest_source: int = 0
    longest_cost: float = 0.0

    def __add__(self, other: Work) -> Work:
        longest = max(self, other, key=lambda one: (one.longest_source, one.longest_cost))
        return Work(
            tokens=self.tokens + other.tokens,
            windows=self.windows + other.windows,
            positions=self.positions + other.positions,
            cost=self.cost + other.cost,
            units=max(self.units, other.units),
            longest_source=longest.longest_source,
            longest_cost=longest.longest_cost,
        )


def work_of(batches: Iterable[PairBatch], config: EstimeConfig, info: EncoderInfo) -> Work:
    """The work of some batches, with nothing in the cache; ``config`` is fully resolved."""
    work = Work()
    for batch in batches:
        summaries = [summary for group in batch.groups for summary in group.summaries]
        texts = [*batch.sources, *(summary.units for summary in summaries)]
        work += Work(
            tokens=sum(len(units.tokens) for units in texts),
            units=sum(len(units) for units in batch.to_embed),
        )
        for number, units in enumerate(batch.to_embed):
            windows = mask_units(units, config).windows
            lengths = [len(window) + info.special.around for window in windows]
            cost = float(sum(length * (6 * info.width + length) for length in lengths))
            is_source = number < len(batch.sources)
            work += Work(
                windows=len(lengths),
                positions=sum(lengths),
                cost=cost,
                longest_source=len(units.tokens) if is_source else 0,
                longest_cost=cost if is_source else 0.0,
            )
    return work
