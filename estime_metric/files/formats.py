"""Formats of tables, chosen by the ending of a name, and streams of their bytes."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

#: What stands for standard input or output.
STANDARD = "-"

READABLE = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
WRITABLE = (".jsonl", ".csv", ".parquet")
COMPRESSED = (".gz", ".zst")

#: Endings that mean the same.
_SAME = {".ndjson": ".jsonl"}

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def is_standard(path: Path) -> bool:
    """Whether a path means standard input or output: ``-``, ``/dev/stdin``, ``/dev/stdout``."""
    return str(path) in (STANDARD, "/dev/stdin", "/dev/stdout")


def readable_format(path: Path) -> str:
    """The ending that says how ``path`` is read, that of the compression left out; standard input is JSON Lines.

    Raises:
        ValueError: it is none of ``READABLE``, or Parquet that is compressed as a whole.
    """
    if is_standard(path):
        return ".jsonl"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSED
    if compressed:
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    ending = _SAME.get(ending, ending)
    if ending not in READABLE or (compressed and ending == ".parquet"):
        listed = ", ".join(READABLE)
        raise ValueError(
            f"Expected a file that ends in {listed}, or in these and {' or '.join(COMPRESSED)} (but for Parquet), "
            f"but got {path.name!r}."
        )
    return ending


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file or of standard input, decompressed.

    Raises:
        ValueError: the file is UTF-16, or its compressed data are damaged or end early.
        ImportError: zstandard is not installed.
        OSError: it cannot be read.
    """
    if is_standard(path):
        yield sys.stdin.buffer
        return
    with path.open("rb") as raw:
        stream = io.BufferedReader(cast(Any, _decompressed(path, raw)))
        try:
            start = stream.peek(4)[:4]
            if start[:2] in _UTF16 or b"\0" in start:
                raise ValueError(f"Expected {path.name} to be UTF-8, but it looks like UTF-16: convert it first.")
            yield cast(BinaryIO, stream)
        except (EOFError, zlib.error) as error:
            raise ValueError(
                f"Expected {path.name} to be whole, but its compressed data end early ({error})."
            ) from error
        except Exception as error:
            if type(error).__name__ == "ZstdError":
                raise ValueError(f"Expected {path.name} to be zstd data, but got: {error}.") from error
            raise


def _decompressed(path: Path, raw: BinaryIO) -> Any:
    ending = path.suffix.lower()
    if ending == ".gz":
        return gzip.GzipFile(fileobj=raw)
    if ending == ".zst":
        try:
            import zstandard
        except ImportError as error:
            raise ImportError("Files in .zst need zstandard: pip install 'estime-metric[files]'.") from error
        return _ZstdReader(raw, zstandard.ZstdDecompressor)
    return raw


class _ZstdReader(io.RawIOBase):
    """Zstandard data, decompressed; the reader of zstandard itself takes a cut file for a whole one."""

    def __init__(self, raw: BinaryIO, decompressor: Any) -> None:
        self._raw = raw
        self._decompressor = decompressor
        self._frame: Any = None
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._held:
            data = self._raw.read(io.DEFAULT_BUFFER_SIZE)
            if not data:
                if self._frame is not None:
                    raise EOFError("a frame is not whole")
                return 0
            while data:
                self._frame = self._frame or self._decompressor().decompressobj()
                self._held += self._frame.decompress(data)
                data = self._frame.unused_data
                if self._frame.eof:
                    self._frame = None
        number = min(len(buffer), len(self._held))
        buffer[:number] = self._held[:number]
        self._held = self._held[number:]
        return number
