"""How files are read: the dialect of CSV, and encodings."""

from __future__ import annotations

import codecs
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    r"""How a file is read.

    Attributes:
        delimiter: the character between the cells of CSV and TSV, also ``"\\t"``; by default a
            comma or a tab.
        encoding: of CSV, TSV and text files, as Python names it; by default UTF-8. Other formats
            are always UTF-8.
        unquoted: whether quotation marks in CSV and TSV are ordinary characters; by default they
            enclose cells.

    Raises:
        ValueError: the delimiter is not one character, or Python does not know the encoding.
    """

    delimiter: str | None = None
    encoding: str | None = None
    unquoted: bool = False

    def __post_init__(self) -> None:
        if self.delimiter == r"\t":
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ValueError(
                f"Expected argument `delimiter` to be one character, but got {self.delimiter!r}."
            )
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise ValueError(
                    "Expected argument `encoding` to be an encoding such as utf-8 or latin-1, "
                    f"but got {self.encoding!r}."
                ) from error


DEFAULT_OPTIONS = ReadOptions()
