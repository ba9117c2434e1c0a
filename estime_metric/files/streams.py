"""Bytes in and out: compressed files, standard input and standard output."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

GZIP = ".gz"


def is_standard(path: Path) -> bool:
    """Whether a path means standard input or output: ``-``, ``/dev/stdin``, ``/dev/stdout``."""
    return str(path) in ("-", "/dev/stdin", "/dev/stdout")


def format_ending(path: Path) -> str:
    """The ending that names the format of a file, in lower case and without ``.gz``."""
    return Path(path.name.lower().removesuffix(GZIP)).suffix


@contextmanager
def opened(path: Path, *, encoded: bool = False) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed if its name ends in ``.gz``, or of standard input.

    Args:
        path: a file, or standard input.
        encoded: whether an encoding other than UTF-8 was requested; otherwise UTF-16 raises an
            error.

    Raises:
        ValueError: the compressed data is damaged, or the file is UTF-16.
        OSError: the file cannot be read.
    """
    if is_standard(path):
        yield sys.stdin.buffer
        return
    is_compressed = path.suffix.lower() == GZIP
    try:
        with gzip.open(path) if is_compressed else path.open("rb") as stream:
            start = stream.peek(4)[:4]
            if not encoded and (start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start):
                raise ValueError(
                    f"Expected {path.name} to be UTF-8, but it looks like UTF-16: convert it "
                    "first, or, for CSV, set `encoding`."
                )
            yield cast(BinaryIO, stream)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"Expected {path.name} to be whole, but it cannot be decompressed ({error})."
        ) from error


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
