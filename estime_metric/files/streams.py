"""Bytes in and out: compressed files, standard input and standard output."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from estime_metric.files.options import LimitError

COMPRESSED = (".gz", ".zst")


def is_standard(path: Path) -> bool:
    """Whether a path means standard input or output: ``-``, ``/dev/stdin``, ``/dev/stdout``."""
    return str(path) in ("-", "/dev/stdin", "/dev/stdout")


@contextmanager
def opened(path: Path, size: int | None = None, *, encoded: bool = False) -> Iterator[BinaryIO]:
    """The bytes of a file or of standard input, decompressed.

    Args:
        path: a file, which is decompressed if its name ends in one of ``COMPRESSED``.
        size: maximum number of bytes to read; ``None`` for any number.
        encoded: whether an encoding other than UTF-8 was requested; otherwise UTF-16 raises an
            error.

    Raises:
        LimitError: the decompressed file is larger than ``size``.
        ValueError: the compressed data is damaged, or the file is UTF-16.
        ImportError: ``.zst`` without pyarrow.
        OSError: the file cannot be read.
    """
    if is_standard(path):
        yield sys.stdin.buffer
        return
    with path.open("rb") as raw, _named_damage(path):
        stream = io.BufferedReader(_Counted(_decompressed(raw, path.suffix.lower()), path, size))
        start = stream.peek(4)[:4]
        if not encoded and (start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start):
            raise ValueError(
                f"Expected {path.name} to be UTF-8, but it looks like UTF-16: convert it first, or, "
                "for CSV, set `encoding`."
            )
        yield stream


@contextmanager
def _named_damage(path: Path) -> Iterator[None]:
    """Errors of decompression, which name no file, as a ValueError that does."""
    try:
        yield
    except (EOFError, zlib.error) as error:
        raise ValueError(
            f"Expected {path.name} to be whole, but its compressed data end early ({error})."
        ) from error
    except OSError as error:
        if error.errno or path.suffix.lower() not in COMPRESSED:
            raise
        early = "Truncated" in str(error)
        said = "its compressed data end early" if early else "it cannot be decompressed"
        raise ValueError(f"Expected {path.name} to be whole, but {said} ({error}).") from error


def _decompressed(raw: BinaryIO, ending: str) -> Any:
    if ending == ".gz":
        return gzip.GzipFile(fileobj=raw)
    if ending != ".zst":
        return raw
    try:
        import pyarrow  # the package zstandard does not notice that a file is truncated
    except ImportError as error:
        raise ImportError(
            "Files in .zst need pyarrow: pip install 'estime-metric[files]'."
        ) from error
    return pyarrow.CompressedInputStream(raw, "zstd")


class _Counted(io.RawIOBase):
    """A stream that ends in a LimitError once more than ``size`` bytes were read."""

    def __init__(self, stream: Any, path: Path, size: int | None) -> None:
        self._stream, self._path, self._size = stream, path, size
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._read += len(data)
        if self._size is not None and self._read > self._size:
            raise LimitError(
                f"Expected {self._path.name} to have at most {self._size:,} bytes of text, "
                "but it has more.",
                "size",
            )
        return len(data)


def write_standard_output(data: bytes) -> None:
    r"""Writes bytes of UTF-8 to standard output as they are, whatever the encoding of the screen is.

    No line break becomes ``\r\n``. If standard output accepts only text, as in a notebook, it gets
    the text.
    """
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode("utf-8"))
    else:
        cast(BinaryIO, binary).write(data)
    sys.stdout.flush()
