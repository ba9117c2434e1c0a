"""How files of pairs are read: the columns of the texts, and the delimiter of CSV."""

from __future__ import annotations

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
        source_file: Text file with one source per line, in place of tables. The summaries are then
            in text files too, each on the line of its source.

    Raises:
        ValueError: the delimiter is not one character.
    """

    source_column: str = "source"
    summary_column: str = "summary"
    delimiter: str | None = None
    source_file: Path | None = None

    def __post_init__(self) -> None:
        if self.delimiter == r"\t":
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ValueError(
                f"Expected argument `delimiter` to be one character, but got {self.delimiter!r}."
            )

    @property
    def text_columns(self) -> tuple[str, str]:
        """The columns of the source and the summary."""
        return self.source_column, self.summary_column


#: Tables with the columns ``source`` and ``summary``.
TABLES = Layout()
