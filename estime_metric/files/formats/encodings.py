"""Text of an encoding that the user names; what is not in it is kept, to be named later."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from estime_metric.files.layout import Layout
from estime_metric.files.streams import opened


@contextmanager
def opened_text(path: Path, layout: Layout, newline: str) -> Iterator[io.TextIOWrapper]:
    """The text of a file; bytes that are not in the encoding make characters that `is_decoded`
    refuses. ``newline`` is as in `open`. Raises as `opened`.
    """
    encoding = layout.encoding or "utf-8"
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"  # a byte order mark does not belong to the first column's name
    with (
        opened(path, encoded=layout.encoding is not None) as stream,
        io.TextIOWrapper(stream, encoding, newline=newline, errors="surrogateescape") as text,
    ):
        try:
            yield text
        except UnicodeDecodeError as error:  # UTF-16 that ends within a character
            raise ValueError(
                f"Expected {path.name} to be {layout.encoding}, but it is not: {error.reason}."
            ) from error


def is_decoded(text: str) -> bool:
    """Whether all of a text could be decoded."""
    return text.isascii() or not any("\udc80" <= character <= "\udcff" for character in text)
