"""What is kept of sources from one call to the next: their units with their wording, and their embeddings."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import Counter
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from estime_metric.checks import integer
from estime_metric.engine.units import Units

#: An entry's kind, `Tensor` for embeddings or `Units`, and its key.
_Name: TypeAlias = tuple[type, str]

#: One in this number of sources that find the memory full displaces others.
_ADMITTED_EVERY = 8


class SourceCache:
    """Units, wording and embeddings of sources, for loops over the same sources in every epoch, also over more than
    fit.

    Sources are kept as long as they fit. Once the memory is full, one new source in eight displaces
    the oldest others. In a loop over more sources than fit, nearly the share that fits is therefore
    found in every epoch (about .20, .47 and .73 if a quarter, a half and three quarters fit),
    shuffled or not, and after a change of data the new sources gradually replace the old ones. A
    rule that lets every new source displace others would find none in a loop in the same order.

    Units and wording are small and spare the host most of its work, so embeddings make room for
    them. Entries are kept on the CPU, whatever device they come from. The embeddings of an article of
    700 tokens need about 2 MB with the bundled encoder ``embedded`` and one layer, and its units and
    wording about .14 MB. A deep copy is the cache itself; an unpickled one keeps the limit, and
    starts empty.

    Args:
        memory_bytes: maximum number of bytes.

    Attributes:
        hits, misses: how often embeddings were and were not found.

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
        self._entries: dict[_Name, Any] = {}  # the oldest first
        self._used_bytes = Counter[type]()  # by kind
        self._without_room = 0  # new sources that found the memory full
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
            embeddings: Tensor | None = self._entries.get((Tensor, key))
            self.hits += embeddings is not None
            self.misses += embeddings is None
            return embeddings

    def put(self, key: str, embeddings: Tensor) -> None:
        """Stores embeddings of any shape and dtype under a `source_key`, if there is room for them or
        it is their turn to displace others.
        """
        with self._lock:
            if self._makes_room((Tensor, key), embeddings.nbytes):
                self._add((Tensor, key), embeddings.detach().to("cpu", copy=True).contiguous())

    def get_units(self, key: str) -> Units | None:
        """The units stored under ``key``; ``None`` if there are none."""
        with self._lock:
            units: Units | None = self._entries.get((Units, key))
            return units

    def put_units(self, key: str, units: Units) -> None:
        """Stores the units of a source with its wording.

        They displace embeddings; if there are none, other units, if it is their turn.
        """
        with self._lock:
            if self._makes_room((Units, key), units.nbytes):
                self._add((Units, key), units)

    def _makes_room(self, name: _Name, nbytes: int) -> bool:
        """Whether there is room for an entry that replaces one of its name, once those are gone that it displaces."""
        self._remove(name)
        kind, _ = name
        kept = self._used_bytes[Units] if kind is Tensor else 0
        if kept + nbytes > self.memory_bytes:
            return False
        if kind is Units and not self._fits(nbytes):
            self._remove_oldest(Tensor, nbytes)
        if not self._fits(nbytes):
            self._without_room += 1
            if self._without_room % _ADMITTED_EVERY == 0:
                self._remove_oldest(kind, nbytes)
        return self._fits(nbytes)

    def _remove_oldest(self, kind: type, nbytes: int) -> None:
        """Removes entries of a kind until ``nbytes`` fit or there are no more."""
        for name in [name for name in self._entries if name[0] is kind]:
            if self._fits(nbytes):
                return
            self._remove(name)

    def _fits(self, nbytes: int) -> bool:
        return self._used_bytes.total() + nbytes <= self.memory_bytes

    def _add(self, name: _Name, value: Tensor | Units) -> None:
        self._entries[name] = value
        self._used_bytes[name[0]] += value.nbytes

    def _remove(self, name: _Name) -> None:
        if name in self._entries:
            self._used_bytes[name[0]] -= self._entries.pop(name).nbytes

    def clear(self) -> None:
        """Removes all entries."""
        with self._lock:
            self._entries.clear()
            self._used_bytes.clear()

    def __len__(self) -> int:
        """How many embeddings there are."""
        with self._lock:
            return sum(kind is Tensor for kind, _ in self._entries)

    def __repr__(self) -> str:
        return f"SourceCache(memory_bytes={self.memory_bytes})"

    def __deepcopy__(self, memo: dict[int, Any]) -> SourceCache:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self is DEFAULT_CACHE:
            return "DEFAULT_CACHE"  # looked up by the process that unpickles it
        return type(self), (self.memory_bytes,)


#: What metrics and judges share within a process unless they are given another cache: 1 GB of
#: memory, which is about 440 articles of 700 tokens with the bundled encoder ``embedded``.
DEFAULT_CACHE = SourceCache(memory_bytes=1_000_000_000)


def source_key(signature: str, *arrays: NDArray[np.int64], text: str = "") -> str:
    """A digest that identifies one source: 64 hexadecimal digits.

    ``signature`` is the complete signature of the configuration. A source is its ``text`` or, if a
    function of the user's splits or tags it, ``arrays`` that describe its units by token ids,
    beginnings, ends and numbers, int64.
    """
    digest = hashlib.sha256(signature.encode())
    digest.update(f"|{text}|".encode("utf-8", "surrogatepass"))
    for array in arrays:
        digest.update(f"|{array.dtype}{array.shape}|".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
