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

from estime_metric.engine.encoder.memory import is_out_of_memory
from estime_metric.validation import integer

#: Files that belong to a cache; it never touches another file of its folder.
_KEY = re.compile(r"[0-9a-f]{64}")
_ENTRY = re.compile(rf"{_KEY.pattern}\.source\.safetensors")
_UNFINISHED = re.compile(r"[0-9a-z_]+\.source\.part")

_ABANDONED = (
    3600.0  # seconds after which an unfinished file counts as left over from a stopped process
)


class SourceCache:
    """Embeddings of sources; the least recently used are evicted first.

    Entries are kept on the CPU, whatever device they come from; in a folder each is a safetensors
    file with a checksum. Several processes may share a folder; a damaged entry is removed with a
    warning and computed again. A deep copy is the cache itself; an unpickled one keeps folder and
    limits, starts with empty memory, and makes the folder when it first writes to it.

    Args:
        memory_bytes: maximum number of bytes of embeddings in memory.
        folder: where entries are kept on disk; made if there is none. ``None`` for memory only.
        folder_bytes: maximum number of bytes in the folder, which each process that writes may
            exceed by a 64th part.

    Attributes:
        hits, misses: how often an entry was and was not found.

    Raises:
        TypeError, ValueError: a limit is not an integer, or is negative; the message names it.
        OSError: the folder cannot be made.

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
        self._start(
            memory_bytes=integer("memory_bytes", memory_bytes, least=0),
            folder=None if folder is None else Path(folder).expanduser(),
            folder_bytes=integer("folder_bytes", folder_bytes, least=0),
        )
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def _start(self, *, memory_bytes: int, folder: Path | None, folder_bytes: int) -> None:
        """Begins with nothing in memory, within these limits; touches no file."""
        self.memory_bytes = memory_bytes
        self.folder = folder
        self.folder_bytes = folder_bytes
        self.hits = self.misses = 0
        self._entries: OrderedDict[str, Tensor] = OrderedDict()
        self._held = 0
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
        wanted = "be bytes of memory, a folder, a SourceCache or None"
        raise TypeError(f"Expected argument `cache` to {wanted}, but got {cache!r}.")

    def get(self, key: str) -> Tensor | None:
        """The embeddings stored under ``key``, on the CPU, not to be changed in place; ``None`` if
        there are none.
        """
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            elif (found := self._read(key)) is not None:
                self._keep(key, found)
            self.hits += found is not None
            self.misses += found is None
            return found

    def put(self, key: str, embeddings: Tensor) -> None:
        """Stores embeddings of any shape and dtype under a `source_key`, unless they are larger
        than a limit.
        """
        if not _KEY.fullmatch(key):
            raise ValueError(
                f"Expected argument `key` to be what `source_key` returns, but got {key!r}."
            )
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

    def __getstate__(self) -> dict[str, Any]:
        return {
            "memory_bytes": self.memory_bytes,
            "folder": self.folder,
            "folder_bytes": self.folder_bytes,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._start(**state)

    def _keep(self, key: str, embeddings: Tensor) -> None:
        if embeddings.nbytes > self.memory_bytes:
            return
        old = self._entries.pop(key, None)
        self._held += embeddings.nbytes - (0 if old is None else old.nbytes)
        self._entries[key] = embeddings
        while self._held > self.memory_bytes:
            _, oldest = self._entries.popitem(last=False)
            self._held -= oldest.nbytes

    def _read(self, key: str) -> Tensor | None:
        if self.folder is None or not _KEY.fullmatch(key):
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
            self.folder.mkdir(parents=True, exist_ok=True)  # an unpickled cache has not made it
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
        folder = self.folder if self.folder is not None and self.folder.is_dir() else None
        for file in [] if folder is None else folder.iterdir():
            if _ENTRY.fullmatch(file.name) or _UNFINISHED.fullmatch(file.name):
                with contextlib.suppress(OSError):  # another process removed it
                    state = file.stat()
                    yield file, state.st_size, state.st_mtime

    def _file(self, key: str) -> Path:
        return Path(self.folder or "") / f"{key}.source.safetensors"


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
