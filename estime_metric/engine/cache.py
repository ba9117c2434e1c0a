"""Source embeddings by content: bounded memory and, if requested, a bounded folder that processes
share.

Keys are digests of everything that the embeddings depend on, so entries cannot be confused and
never have to be invalidated.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save
from torch import Tensor

from estime_metric.engine.encoder import store
from estime_metric.engine.encoder.memory import is_out_of_memory, return_memory
from estime_metric.validation import integer

#: Files that belong to a cache; it never touches another file of its folder.
_ENTRY = re.compile(r"[0-9a-f]{64}\.source\.safetensors")
_UNFINISHED = re.compile(r"[0-9a-z_]+\.source\.part")

_ABANDONED = (
    3600.0  # seconds after which an unfinished file counts as left over from a stopped process
)

_ADMITTED = 3  # requests after which a source displaces one that nobody requested meanwhile
_MOST_KNOWN = 2**16  # keys whose requests are remembered


class SourceCache:
    """Embeddings of sources, for loops over the same sources in every epoch, also over more than
    fit.

    Once the memory is full, a new source displaces the least recently used ones only if it was
    requested three times since any of them was. In a loop, nothing is displaced therefore, shuffled
    or not: if a quarter of the sources fit, a quarter are found from the second or third epoch on.
    After a change of data, the new sources are in by the fourth epoch. Requests that follow in
    short succession, for several summaries of a source or by several metrics, count as one. The
    newest source that was not admitted stays until the next one, in addition to ``memory_bytes``.
    This is admission by recent frequency, as in TinyLFU (Einziger et al. 2017), counted since the
    last use of what would be displaced. Admission by epochs would need to know where an epoch ends,
    and several metrics share a cache.

    Entries are kept on the CPU, whatever device they come from. The embeddings of an article of 700
    tokens need about 2 MB with the bundled encoder ``embedded`` and one layer. In a folder each is a
    safetensors file with a checksum, and the files used longest ago are removed first, so allow
    enough bytes for all sources. Several processes may share a folder; a damaged entry is removed
    with a warning and computed again. A deep copy is the cache itself; an unpickled one keeps folder
    and limits, and starts with empty memory.

    Args:
        memory_bytes: maximum number of bytes of embeddings in memory.
        folder: where entries are kept on disk, made when the first one is written; a warning is
            issued if that fails. ``None`` for memory only.
        folder_bytes: maximum number of bytes in the folder, which each process that writes may
            exceed by a 64th part.

    Attributes:
        hits, misses: how often an entry was and was not found.

    Raises:
        TypeError, ValueError: a limit is not an integer, or is negative; the message names it.

    Example:
        >>> cache = SourceCache(memory_bytes=1000)
        >>> key = source_key("signature", np.array([7, 8, 9]))
        >>> cache.put(key, torch.zeros(1, 3, 4))
        >>> cache.get(key).shape, cache.get(source_key("other signature", np.array([7, 8, 9])))
        (torch.Size([1, 3, 4]), None)
    """

    def __init__(
        self,
        memory_bytes: int = 0,
        folder: str | os.PathLike[str] | None = None,
        folder_bytes: int = 10_000_000_000,
    ) -> None:
        self.memory_bytes = integer("memory_bytes", memory_bytes, least=0)
        self.folder = None if folder is None else Path(folder).expanduser()
        self.folder_bytes = integer("folder_bytes", folder_bytes, least=0)
        self.hits = self.misses = 0
        #: By key, the embeddings and the time of their last use, the least recently used first.
        self._entries: OrderedDict[str, tuple[Tensor, int]] = OrderedDict()
        self._held = 0
        #: The newest embeddings that were not admitted, by their key.
        self._newest: dict[str, Tensor] = {}
        #: The times of the last requests for a key that count; a request is a unit of time.
        self._requests: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._time = 0
        self._latest: str | None = None  # the key of the last request
        self._unchecked = (
            self.folder_bytes
        )  # bytes written since the folder was last looked through
        self._warned = False
        self._lock = threading.Lock()

    @classmethod
    def of(cls, cache: int | str | os.PathLike[str] | SourceCache | None) -> SourceCache | None:
        """What users may pass as ``cache``: bytes of memory, a folder, a cache, ``None``; raises as
        the class.
        """
        if cache is None or isinstance(cache, SourceCache):
            return cache
        if isinstance(cache, (str, os.PathLike)):
            return cls(folder=cache)
        if isinstance(cache, SupportsIndex) and not isinstance(cache, bool):
            return cls(memory_bytes=integer("cache", cache, least=0))
        raise TypeError(
            "Expected argument `cache` to be bytes of memory, a folder, a SourceCache or None, but got "
            f"{cache!r}."
        )

    def get(self, key: str) -> Tensor | None:
        """The embeddings stored under ``key``, on the CPU, not to be changed in place; ``None`` if
        there are none.
        """
        with self._lock:
            self._count(key)
            embeddings, _ = self._entries.pop(key, (None, 0))
            if embeddings is not None:
                self._entries[key] = embeddings, self._time
            elif (embeddings := self._newest.get(key)) is None:
                embeddings = self._read(key)
                if embeddings is not None:
                    self._keep(key, embeddings)
            self.hits += embeddings is not None
            self.misses += embeddings is None
            return embeddings

    def put(self, key: str, embeddings: Tensor) -> None:
        """Stores embeddings of any shape and dtype under a `source_key`, unless they are larger
        than a limit.
        """
        if max(self.memory_bytes, self.folder_bytes if self.folder else 0) < embeddings.nbytes:
            return
        with self._lock:
            own = embeddings.detach().to("cpu", copy=True).contiguous()
            self._keep(key, own)
            self._write(key, own)

    def clear(self) -> None:
        """Removes all entries, those in the folder included."""
        with self._lock:
            self._entries.clear()
            self._newest.clear()
            self._requests.clear()
            self._held = 0
            for file, _, _ in self._files():
                _remove(file)

    def __len__(self) -> int:
        """How many entries are in memory."""
        return len(self._entries)

    def __repr__(self) -> str:
        folder = (
            ""
            if self.folder is None
            else f", folder={str(self.folder)!r}, folder_bytes={self.folder_bytes}"
        )
        return f"SourceCache(memory_bytes={self.memory_bytes}{folder})"

    def __deepcopy__(self, memo: dict[int, Any]) -> SourceCache:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self is DEFAULT_CACHE:
            return "DEFAULT_CACHE"  # looked up by the process that unpickles it
        return type(self), (self.memory_bytes, self.folder, self.folder_bytes)

    def _count(self, key: str) -> None:
        """Remembers a request, unless it follows another one for ``key`` in short succession."""
        self._time += 1
        times = self._requests.pop(key, ())
        usual = times[-1] - times[-2] if len(times) > 1 else 0
        if key != self._latest and (not times or self._time - times[-1] >= usual / 4):
            times = (*times, self._time)[-_ADMITTED:]
        self._requests[key] = times
        self._latest = key
        if len(self._requests) > _MOST_KNOWN:
            self._requests.popitem(last=False)

    def _keep(self, key: str, embeddings: Tensor) -> None:
        """Keeps embeddings if they fit, or are requested more often than what they displace."""
        if embeddings.nbytes > self.memory_bytes:
            return
        old, _ = self._entries.pop(key, (embeddings[:0], 0))
        self._held -= old.nbytes
        times = self._requests.get(key, ())
        since = times[0] if len(times) == _ADMITTED else 0
        displaced = []
        excess = self._held + embeddings.nbytes - self.memory_bytes
        for other, (held, used) in self._entries.items():
            if excess <= 0 or used >= since:
                break
            displaced.append(other)
            excess -= held.nbytes
        if excess > 0:
            self._newest = {key: embeddings}
            return
        for other in displaced:
            self._held -= self._entries.pop(other)[0].nbytes
        self._entries[key] = embeddings, self._time
        self._held += embeddings.nbytes

    def _read(self, key: str) -> Tensor | None:
        if self.folder is None:
            return None
        file = self._file(key)
        try:
            entry = load(file.read_bytes())
            embeddings = entry["embeddings"]
            if torch.equal(entry["checksum"], _checksum(key, embeddings)):
                with contextlib.suppress(OSError):
                    os.utime(file)  # recently used
                return embeddings
        except Exception as error:  # whatever a damaged file makes its reader say
            if isinstance(error, OSError) or is_out_of_memory(error):
                return None
        _remove(file)
        warnings.warn(
            f"{file} is damaged. It was removed, and its source will be encoded again.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None

    def _write(self, key: str, embeddings: Tensor) -> None:
        if self.folder is None or embeddings.nbytes > self.folder_bytes:
            return
        content = save({"embeddings": embeddings, "checksum": _checksum(key, embeddings)})
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, unfinished = tempfile.mkstemp(suffix=".source.part", dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(content)
                os.replace(unfinished, self._file(key))
            finally:  # gone once it is renamed
                _remove(Path(unfinished))
        except OSError as error:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"Source embeddings could not be written to {self.folder}: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return
        self._unchecked += len(content)
        if self._unchecked > self.folder_bytes // 64:
            self._unchecked = 0
            self._shrink()

    def _shrink(self) -> None:
        """Removes the files used longest ago until the rest fits, and what stopped processes left
        unfinished.
        """
        files = []
        for file, size, used in self._files():
            if _UNFINISHED.fullmatch(file.name) and time.time() - used > _ABANDONED:
                _remove(file)
            else:
                files.append((used, size, file))
        excess = sum(size for _, size, _ in files) - self.folder_bytes
        for _, size, file in sorted(files):
            if excess > 0 and _ENTRY.fullmatch(file.name):
                _remove(file)
                excess -= size

    def _files(self) -> Iterator[tuple[Path, int, float]]:
        if self.folder is None or not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            if _ENTRY.fullmatch(file.name) or _UNFINISHED.fullmatch(file.name):
                with contextlib.suppress(OSError):  # another process removed it
                    state = file.stat()
                    yield file, state.st_size, state.st_mtime

    def _file(self, key: str) -> Path:
        return Path(self.folder or "") / f"{key}.source.safetensors"


#: What metrics and judges share within a process unless they are given another cache: 1 GB of
#: memory, which is about 470 articles of 700 tokens with the bundled encoder ``embedded``.
DEFAULT_CACHE = SourceCache(memory_bytes=1_000_000_000)


def unload_encoders() -> None:
    """Releases all encoders and the source embeddings that metrics share by default, and returns
    their memory; the next use loads them again.

    An encoder that an `EstimeScorer` is using stays until that is unloaded or gone.
    """
    store.STORE.release()
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


def _checksum(key: str, embeddings: Tensor) -> Tensor:
    """32 bytes that change with the key, the shape, the dtype or any number; uint8 of shape (32,)."""
    digest = hashlib.sha256(f"{key}|{embeddings.dtype}|{tuple(embeddings.shape)}|".encode())
    digest.update(embeddings.contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return torch.frombuffer(bytearray(digest.digest()), dtype=torch.uint8)


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()
