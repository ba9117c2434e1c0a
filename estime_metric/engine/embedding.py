"""Batches of pairs -> embeddings: looks sources up in the cache, encodes what is missing, stores what is new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import SourceCache, source_key
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.encoder.memory import put, to_host
from estime_metric.engine.text.masking import MaskedText, mask_units
from estime_metric.engine.text.pairs import PairBatch
from estime_metric.engine.text.units import Units

#: The embeddings of sets of units, of shape (layers, units, width), on the device of the encoder.
Embeddings: TypeAlias = dict[Units, Tensor]


@dataclass(frozen=True, eq=False, slots=True)
class PlannedBatch:
    """A batch of pairs that is ready for the encoder.

    Attributes:
        pairs: the batch.
        cached: embeddings that the cache had, on the CPU.
        missing: the sets of units that have to be encoded.
        windows: the windows of each set.
        keys: under which the cache stores a source that is encoded now.
    """

    pairs: PairBatch
    cached: Embeddings
    missing: list[Units]
    windows: list[MaskedText]
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

    def plan(self, batch: PairBatch) -> PlannedBatch:
        """Looks the sources up, and cuts all other texts into windows. Touches no device."""
        cached: Embeddings = {}
        keys: dict[Units, str] = {}
        if self._cache is not None:
            signature = self._config.signature()
            for source in batch.sources:
                key = source_key(signature, source.tokens, source.first, source.stop, source.index)
                found = self._cache.get(key)
                if found is None:
                    keys[source] = key
                else:
                    cached[source] = found
        missing = [units for units in batch.to_embed if units not in cached]
        windows = [mask_units(units, self._config) for units in missing]
        return PlannedBatch(batch, cached=cached, missing=missing, windows=windows, keys=keys)

    def embed(self, planned: PlannedBatch, on_progress: Callable[[float], None]) -> Embeddings:
        """The embeddings of all sets of units of a batch.

        ``on_progress`` is called after each forward pass with its fraction of the batch. Raises the
        errors of `MaskedEncoder.encode`.
        """
        encoded = self._encoder.encode(
            planned.windows,
            self._config.layer_tuple,
            token_budget=self._config.token_budget,
            on_progress=on_progress,
        )
        embeddings = dict(zip(planned.missing, encoded, strict=True))
        if self._cache is not None:
            self._store(self._cache, {key: embeddings[one] for one, key in planned.keys.items()})
        for source, states in planned.cached.items():
            embeddings[source] = put(states, self._encoder.device)
        embeddings |= self._carried
        self._carried = {}
        carried = planned.pairs.carried
        if carried is not None and carried in embeddings:
            self._carried[carried] = embeddings[carried].clone()  # not a view of the whole batch
        return embeddings

    @staticmethod
    def _store(cache: SourceCache, new: dict[str, Tensor]) -> None:
        for key, states in zip(new, to_host(list(new.values())), strict=True):
            cache.put(key, states)
