"""How files of pairs are read: the columns of the texts, the dialect of CSV, and encodings."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Layout:
    r"""How a file of pairs is read.

    Attributes:
        source_column: Column of the sources.
        summary_column: Column of the summaries.
        delimiter: Character between the cells of CSV, such as ';'. (default: comma, or tab for
            .tsv)
        encoding: Encoding of CSV and text files, such as latin-1; other formats are always UTF-8.
            (default: utf-8)
        unquoted: Read quotation marks in CSV and TSV as ordinary characters, for tables whose cells
            are not enclosed in them.
        source_file: Text file with one source per line, in place of tables. The summaries are then
            in text files too, each on the line of its source.

    Raises:
        ValueError: the delimiter is not one character, or Python does not know the encoding.
    """

    source_column: str = "source"
    summary_column: str = "summary"
    delimiter: str | None = None
    encoding: str | None = None
    unquoted: bool = False
    source_file: Path | None = None

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


#: Tables with the columns ``source`` and ``summary``.
TABLES = Layout()
