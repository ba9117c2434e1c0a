"""What is kept of sources from one call to the next: their units with their wording, and their embeddings."""

from __future__ import annotations

import hashlib
import os
import random
import threading
from typing import Any, Generic, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from estime_metric.checks import integer
from estime_metric.engine.units import Units

Value = TypeVar("Value")


#: One in this number of sources that find the memory full displaces others.
_ADMITTED_EVERY = 8


class _Entries(Generic[Value]):
    """Values by key, each with its bytes; a random one is removed in constant time."""

    def __init__(self) -> None:
        self.used_bytes = 0
        self._values: dict[str, tuple[Value, int]] = {}
        self._keys: list[str] = []  # in any order
        self._positions: dict[str, int] = {}  # of the keys in that list

    def get(self, key: str) -> Value | None:
        value = self._values.get(key)
        return None if value is None else value[0]

    def put(self, key: str, value: Value, nbytes: int) -> None:
        self.remove(key)
        self._values[key] = value, nbytes
        self._positions[key] = len(self._keys)
        self._keys.append(key)
        self.used_bytes += nbytes

    def remove(self, key: str) -> None:
        if key not in self._values:
            return
        self.used_bytes -= self._values.pop(key)[1]
        position, last = self._positions.pop(key), self._keys.pop()
        if last != key:  # it moves to where the key was
            self._keys[position] = last
            self._positions[last] = position

    def remove_random(self, generator: random.Random) -> None:
        self.remove(generator.choice(self._keys))

    def __len__(self) -> int:
        return len(self._keys)


class SourceCache:
    """Units, wording and embeddings of sources, for loops over the same sources in every epoch, also over more than
    fit.

    Sources are kept as long as they fit. Once the memory is full, one new source in eight displaces
    random others. In a loop over more sources than fit, nearly the share that fits is therefore
    found in every epoch (about .21, .48 and .74 if a quarter, a half and three quarters fit),
    shuffled or not, and after a change of data the new sources gradually replace the old ones. A
    rule that displaces the least recently used source would find none in such a loop.

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
        self._embeddings = _Entries[Tensor]()
        self._units = _Entries[Units]()
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
            embeddings = self._embeddings.get(key)
            self.hits += embeddings is not None
            self.misses += embeddings is None
            return embeddings

    def put(self, key: str, embeddings: Tensor) -> None:
        """Stores embeddings of any shape and dtype under a `source_key`, if there is room for them or
        it is their turn to displace others.
        """
        with self._lock:
            self._embeddings.remove(key)
            if embeddings.nbytes > self.memory_bytes - self._units.used_bytes or not (
                self._fits(embeddings.nbytes) or self._is_admitted()
            ):
                return
            while not self._fits(embeddings.nbytes):
                self._embeddings.remove_random(self._random)
            stored = embeddings.detach().to("cpu", copy=True).contiguous()
            self._embeddings.put(key, stored, stored.nbytes)

    def get_units(self, key: str) -> Units | None:
        """The units stored under ``key``; ``None`` if there are none."""
        with self._lock:
            return self._units.get(key)

    def put_units(self, key: str, units: Units) -> None:
        """Stores the units of a source, and with them its wording once that has been asked for.

        They displace embeddings; if there are none, other units, if it is their turn.
        """
        with self._lock:
            self._units.remove(key)
            if units.nbytes > self.memory_bytes:
                return
            while len(self._embeddings) and not self._fits(units.nbytes):
                self._embeddings.remove_random(self._random)
            if not (self._fits(units.nbytes) or self._is_admitted()):
                return
            while not self._fits(units.nbytes):
                self._units.remove_random(self._random)
            self._units.put(key, units, units.nbytes)

    def _fits(self, nbytes: int) -> bool:
        used = self._units.used_bytes + self._embeddings.used_bytes
        return used + nbytes <= self.memory_bytes

    def _is_admitted(self) -> bool:
        """Whether a source that finds the memory full may displace others."""
        self._without_room += 1
        return self._without_room % _ADMITTED_EVERY == 0

    def clear(self) -> None:
        """Removes all entries."""
        with self._lock:
            self._embeddings = _Entries()
            self._units = _Entries()

    def __len__(self) -> int:
        """How many embeddings there are."""
        return len(self._embeddings)

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
