"""Batches of pairs -> embeddings: looks sources up in the cache, encodes what is missing, stores what is
new.
"""

from __future__ import annotations

import hashlib
import os
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from estime_metric.checks import integer
from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder import masked
from estime_metric.engine.encoder.device import inference_context, put, return_memory, to_host
from estime_metric.engine.encoder.masked import MaskedEncoder
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
        missing = {
            units: mask_units(units, self._config)
            for units in batch.to_embed
            if units not in cached
        }
        encoded = self._encoder.encode(
            list(missing.values()),
            self._config.layer_tuple,
            token_budget=self._config.token_budget,
            on_progress=lambda share: advance(share * batch.rows),
        )
        embeddings = dict(zip(missing, encoded, strict=True))
        with inference_context(self._encoder.device):
            if self._cache is not None:
                on_host = to_host([embeddings[source] for source in keys])
                for key, source_embeddings in zip(keys.values(), on_host, strict=True):
                    self._cache.put(key, source_embeddings)
            for source, source_embeddings in cached.items():
                embeddings[source] = put(source_embeddings, self._encoder.device)
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
                key = source_key(signature, source.tokens, source.first, source.stop, source.index)
                embeddings = self._cache.get(key)
                if embeddings is None:
                    keys[source] = key
                else:
                    cached[source] = embeddings
        return cached, keys


#: One in this number of sources that find the memory full displaces others.
_ADMITTED_EVERY = 8


class SourceCache:
    """Embeddings of sources, for loops over the same sources in every epoch, also over more than
    fit.

    Sources are kept as long as they fit. Once the memory is full, one new source in eight displaces
    random others. In a loop over more sources than fit, nearly the share that fits is therefore
    found in every epoch (about .21, .48 and .74 if a quarter, a half and three quarters fit),
    shuffled or not, and after a change of data the new sources gradually replace the old ones. A
    rule that displaces the least recently used source would find none in such a loop.

    Entries are kept on the CPU, whatever device they come from. The embeddings of an article of 700
    tokens need about 2 MB with the bundled encoder ``embedded`` and one layer. A deep copy is the
    cache itself; an unpickled one keeps the limit, and starts empty.

    Args:
        memory_bytes: maximum number of bytes of embeddings.

    Attributes:
        hits, misses: how often an entry was and was not found.

    Raises:
        TypeError, ValueError: the limit is not an integer, or is negative.

    Example:
        >>> import torch
        >>> cache = SourceCache(memory_bytes=1000)
        >>> key = source_key("signature", np.array([7, 8, 9]))
        >>> cache.put(key, torch.zeros(1, 3, 4))
        >>> cache.get(key).shape, cache.get(source_key("other signature", np.array([7, 8, 9])))
        (torch.Size([1, 3, 4]), None)
    """

    def __init__(self, memory_bytes: int) -> None:
        self.memory_bytes = integer("memory_bytes", memory_bytes, least=0)
        self.hits = self.misses = 0
        self._entries: dict[str, Tensor] = {}
        self._used_bytes = 0
        self._without_room = 0  # new sources that found the memory full
        self._random = random.Random(0)  # Python's global one belongs to the user
        self._lock = threading.Lock()

    @classmethod
    def of(cls, cache: int | SourceCache | None) -> SourceCache | None:
        """What users may pass as ``cache``: bytes of memory, a cache, or ``None``.

        Raises:
            TypeError, ValueError: anything else, or a negative number.
        """
        if cache is None or isinstance(cache, SourceCache):
            return cache
        if isinstance(cache, SupportsIndex) and not isinstance(cache, bool):
            return cls(memory_bytes=integer("cache", cache, least=0))
        hint = ""
        if isinstance(cache, (str, os.PathLike)):
            hint = " Embeddings are no longer kept in a folder."
        raise TypeError(
            "Expected argument `cache` to be bytes of memory, a SourceCache or None, but got "
            f"{cache!r}.{hint}"
        )

    def get(self, key: str) -> Tensor | None:
        """The embeddings stored under ``key``, on the CPU, not to be changed in place; ``None`` if
        there are none.
        """
        with self._lock:
            embeddings = self._entries.get(key)
            self.hits += embeddings is not None
            self.misses += embeddings is None
            return embeddings

    def put(self, key: str, embeddings: Tensor) -> None:
        """Stores embeddings of any shape and dtype under a `source_key`, if there is room for them or
        it is their turn to displace others.
        """
        if embeddings.nbytes > self.memory_bytes:
            return
        with self._lock:
            self._remove(key)
            if not self._fits(embeddings):
                self._without_room += 1
                if self._without_room % _ADMITTED_EVERY:
                    return
            while not self._fits(embeddings):
                self._remove(self._random.choice(list(self._entries)))
            self._entries[key] = embeddings.detach().to("cpu", copy=True).contiguous()
            self._used_bytes += embeddings.nbytes

    def _fits(self, embeddings: Tensor) -> bool:
        return self._used_bytes + embeddings.nbytes <= self.memory_bytes

    def _remove(self, key: str) -> None:
        if key in self._entries:
            self._used_bytes -= self._entries.pop(key).nbytes

    def clear(self) -> None:
        """Removes all entries."""
        with self._lock:
            self._entries.clear()
            self._used_bytes = 0

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def __repr__(self) -> str:
        return f"SourceCache(memory_bytes={self.memory_bytes})"

    def __deepcopy__(self, memo: dict[int, Any]) -> SourceCache:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self is DEFAULT_CACHE:
            return "DEFAULT_CACHE"  # looked up by the process that unpickles it
        return type(self), (self.memory_bytes,)


#: What metrics and judges share within a process unless they are given another cache: 1 GB of
#: memory, which is about 470 articles of 700 tokens with the bundled encoder ``embedded``.
DEFAULT_CACHE = SourceCache(memory_bytes=1_000_000_000)


def unload_encoders() -> None:
    """Releases all encoders and the source embeddings that metrics share by default, and returns
    their memory; the next use loads them again.

    An encoder that an `EstimeScorer` is using stays until that is unloaded or gone.
    """
    masked.STORE.release()
    DEFAULT_CACHE.clear()
    return_memory()


def source_key(signature: str, *arrays: NDArray[np.int64]) -> str:
    """A digest that identifies the embeddings of one source: 64 hexadecimal digits.

    ``signature`` is the complete signature of the configuration; ``arrays`` describe the units by
    token ids, beginnings, ends and numbers, int64.
    """
    digest = hashlib.sha256(signature.encode())
    for array in arrays:
        digest.update(f"|{array.dtype}{array.shape}|".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
