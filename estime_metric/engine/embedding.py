"""Batches of pairs -> embeddings: looks sources up in the cache, encodes what is missing, stores what is new."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TypeAlias

from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import SourceCache, source_key
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.encoder.memory import ahead_of, put, to_host
from estime_metric.engine.encoder.precision import inference_context
from estime_metric.engine.masking import MaskedText, mask_units
from estime_metric.engine.pairs import PairBatch
from estime_metric.engine.units import Units

#: The embeddings of sets of units, of shape (layers, units, width), on the device of the encoder.
Embeddings: TypeAlias = dict[Units, Tensor]


@dataclass(frozen=True, eq=False, slots=True)
class _Plan:
    """What has to be done for a batch of pairs.

    Attributes:
        batch: the batch.
        cached: embeddings that the cache had, on the CPU.
        missing: the windows of each set of units that has to be encoded.
        keys: under which the cache stores a source that is encoded now.
    """

    batch: PairBatch
    cached: Embeddings
    missing: dict[Units, MaskedText]
    keys: dict[Units, str]


class Embedder:
    """Embeds batches of pairs, one after the other.

    A source that has more summaries in the next batch keeps its embeddings until then.

    Args:
        encoder: the encoder.
        config: a fully resolved configuration.
        cache: where embeddings of sources are looked up and stored; ``None`` for nowhere.
    """

    def __init__(
        self, encoder: MaskedEncoder, config: EstimeConfig, cache: SourceCache | None
    ) -> None:
        self._encoder = encoder
        self._config = config
        self._cache = cache
        self._carried: Embeddings = {}

    def embed(
        self, batches: Iterator[PairBatch], advance: Callable[[float], None]
    ) -> Iterator[tuple[PairBatch, Embeddings]]:
        """Each batch with the embeddings of all its sets of units, of which none is kept here.

        While a GPU encodes a batch, the next one is made and planned. ``advance`` is called after each
        forward pass with the number of pairs that it has completed, a fraction of the batch. Raises the
        errors of `MaskedEncoder.encode`.
        """
        plans = ahead_of(self._encoder.device, (self._plan(batch) for batch in batches))
        with closing(plans):
            for plan in plans:
                yield plan.batch, self._embed(plan, advance)

    def _plan(self, batch: PairBatch) -> _Plan:
        """Looks the sources up, and cuts all other texts into windows. Touches no device."""
        cached: Embeddings = {}
        keys: dict[Units, str] = {}
        if self._cache is not None:
            signature = self._config.signature()
            for source in batch.sources:
                key = source_key(signature, source.tokens, source.first, source.stop, source.index)
                embeddings = self._cache.get(key)
                if embeddings is None:
                    keys[source] = key
                else:
                    cached[source] = embeddings
        missing = {
            units: mask_units(units, self._config)
            for units in batch.to_embed
            if units not in cached
        }
        return _Plan(batch, cached, missing, keys)

    def _embed(self, plan: _Plan, advance: Callable[[float], None]) -> Embeddings:
        encoded = self._encoder.encode(
            list(plan.missing.values()),
            self._config.layer_tuple,
            token_budget=self._config.token_budget,
            on_progress=lambda share: advance(share * plan.batch.rows),
        )
        embeddings = dict(zip(plan.missing, encoded, strict=True))
        with inference_context(self._encoder.device):
            if self._cache is not None:
                on_host = to_host([embeddings[source] for source in plan.keys])
                for key, source_embeddings in zip(plan.keys.values(), on_host, strict=True):
                    self._cache.put(key, source_embeddings)
            for source, source_embeddings in plan.cached.items():
                embeddings[source] = put(source_embeddings, self._encoder.device)
            embeddings |= self._carried
            carried = plan.batch.carried
            self._carried = {}
            if carried in embeddings:  # a copy: not a view of the whole batch
                self._carried[carried] = embeddings[carried].clone()
        return embeddings
