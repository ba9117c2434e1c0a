"""Text in and bytes out: compressed files, encodings, standard input and standard output."""

from __future__ import annotations

import codecs
import errno
import gzip
import io
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


class OpenedText(io.TextIOWrapper):
    """A text that is being read.

    Attributes:
        size: bytes of the file; 0 if they are not known, as with standard input and pipes.
    """

    size = 0

    @property
    def share(self) -> float:
        """About which share of the file has been read; 0 if its size is not known."""
        # A `GzipFile` has the compressed file.
        file = cast(BinaryIO, getattr(self.buffer, "fileobj", self.buffer))
        return file.tell() / self.size if self.size else 0.0


@contextmanager
def opened_text(path: Path, newline: str) -> Iterator[OpenedText]:
    """The text of a file, decompressed if its name ends in ``.gz``, or of standard input.

    Files are UTF-8, or UTF-16 with a byte order mark; standard input is UTF-8. Bytes that are not
    UTF-8 make characters that `is_decoded` refuses.

    Args:
        path: a file, or standard input.
        newline: as in `open`.

    Raises:
        ValueError: the compressed data is damaged, or the file is UTF-16 without a mark.
        OSError: the file cannot be read.
    """
    try:
        with _opened(path) as stream:
            text = OpenedText(
                stream, _encoding(stream, path), newline=newline, errors="surrogateescape"
            )
            text.size = 0 if is_standard(path) else path.stat().st_size
            try:
                yield text
            finally:
                text.detach()  # standard input stays open
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"Expected {path.name} to be whole, but it cannot be decompressed ({error})."
        ) from error
    except UnicodeDecodeError as error:  # UTF-16 that ends within a character
        raise ValueError(
            f"Expected {path.name} to be UTF-16, as its byte order mark says, but it is not "
            f"({error.reason})."
        ) from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if is_standard(path):
        if sys.stdin is None:
            raise OSError(errno.EBADF, "Standard input is closed")
        yield sys.stdin.buffer
    else:
        is_compressed = path.suffix.lower() == GZIP
        with gzip.open(path) if is_compressed else path.open("rb") as stream:
            yield cast(BinaryIO, stream)


def _encoding(stream: BinaryIO, path: Path) -> str:
    if is_standard(path):
        return "utf-8-sig"
    start = cast(io.BufferedReader, stream).peek(4)[:4]
    is_marked = start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if b"\0" in start and (not is_marked or start == codecs.BOM_UTF32_LE):
        raise ValueError(
            f"Expected {path.name} to be UTF-8, or UTF-16 with a byte order mark, but it is neither. "
            "Convert it, for example with iconv."
        )
    return "utf-16" if is_marked else "utf-8-sig"  # without the mark, no part of a column's name


def is_decoded(text: str) -> bool:
    """Whether all of a text could be decoded."""
    return text.isascii() or not any("\udc80" <= character <= "\udcff" for character in text)


def write_standard_output(data: bytes) -> None:
    r"""Writes bytes of UTF-8 to standard output as they are, whatever the encoding of the screen is.

    No line break becomes ``\r\n``. If standard output accepts only text, as in a notebook, it gets
    the text. Raises OSError if it is closed.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "Standard output is closed")
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode("utf-8"))
    else:
        cast(BinaryIO, binary).write(data)
    sys.stdout.flush()
