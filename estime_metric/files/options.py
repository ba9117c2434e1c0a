"""How files are read: the dialect of CSV, and limits for files that strangers upload."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

MAX_COLUMNS = 10_000
MAX_DEPTH = 100


class LimitError(ValueError):
    """A file exceeds one of the `ReadLimits`; ``limit`` is the name of that limit."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


@dataclass(frozen=True, kw_only=True)
class ReadLimits:
    """How much of a file is read at most. What exceeds a limit is not read first.

    Attributes:
        rows: lines, also invalid ones; ``None`` for any number. Another one raises `LimitError`.
        size: bytes after decompression and decoding; ``None`` for any number. Another one raises
            `LimitError`.
        columns: columns of a row. A header of CSV or a schema of Parquet with more raises
            `LimitError`, a JSON object with more is an invalid line.
        depth: lists and objects inside one another. A row that is nested more deeply is an invalid
            line.
    """

    rows: int | None = None
    size: int | None = None
    columns: int = MAX_COLUMNS
    depth: int = MAX_DEPTH


DEFAULT_LIMITS = ReadLimits()


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
        limits: how much is read at most.

    Raises:
        ValueError: the delimiter is not one character, or Python does not know the encoding.
    """

    delimiter: str | None = None
    encoding: str | None = None
    unquoted: bool = False
    limits: ReadLimits = DEFAULT_LIMITS

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
