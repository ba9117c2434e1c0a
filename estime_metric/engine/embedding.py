"""Batches of pairs -> embeddings: looks sources up in the cache, encodes what is missing, stores what is
new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import torch
from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache, source_key
from estime_metric.engine.encoder import store
from estime_metric.engine.encoder.device import inference_context, put, to_host
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.encoder.memory import return_memory
from estime_metric.engine.masking import mask_units
from estime_metric.engine.pairs import PairBatch
from estime_metric.engine.units import Units

#: The embeddings of sets of units, of shape (layers, units, width), on the device of the encoder.
Embeddings: TypeAlias = dict[Units, Tensor]


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

        ``advance`` is called after each forward pass with the number of pairs that it has completed, a
        fraction of the batch. Raises the errors of `MaskedEncoder.encode`.
        """
        for batch in batches:
            yield batch, self._embed(batch, advance)

    def _embed(self, batch: PairBatch, advance: Callable[[float], None]) -> Embeddings:
        cached, keys = self._look_up(batch.sources)
        rows = batch.rows
        missing = {
            units: mask_units(units, self._config)
            for units in batch.to_embed
            if units not in cached
        }
        encoded = self._encoder.encode(
            list(missing.values()),
            self._config.layer_tuple,
            token_budget=self._config.token_budget,
            on_progress=lambda share: advance(share * rows),
        )
        embeddings = dict(zip(missing, encoded, strict=True))
        with inference_context(self._encoder.device):
            if self._cache is not None:
                on_host = to_host([embeddings[source] for source in keys])
                for key, source_embeddings in zip(keys.values(), on_host, strict=True):
                    self._cache.put(key, source_embeddings)
            if cached:  # one copy to the device for all
                sizes = [len(source) for source in cached]
                together = put(torch.cat(list(cached.values()), dim=1), self._encoder.device)
                embeddings |= zip(cached, torch.split(together, sizes, dim=1), strict=True)
            embeddings |= self._carried
            self._carried = {}
            if batch.carried in embeddings:  # a copy: not a view of the whole batch
                self._carried[batch.carried] = embeddings[batch.carried].clone()
        return embeddings

    def _look_up(self, sources: list[Units]) -> tuple[Embeddings, dict[Units, str]]:
        """The embeddings that the cache has, on the CPU, and the keys of the sources that it lacks."""
        cached: Embeddings = {}
        keys: dict[Units, str] = {}
        if self._cache is not None:
            signature = self._config.signature()
            for source in sources:
                key = source.key or source_key(
                    signature, source.tokens, source.first, source.stop, source.index
                )
                embeddings = self._cache.get(key)
                if embeddings is None:
                    keys[source] = key
                else:
                    cached[source] = embeddings
        return cached, keys


def unload_encoders() -> None:
    """Releases all encoders and the source embeddings that metrics share by default, and returns
    their memory; the next use loads them again.

    An encoder that an `EstimeScorer` is using stays until that is unloaded or gone.
    """
    store.STORE.release()
    DEFAULT_CACHE.clear()
    return_memory()
