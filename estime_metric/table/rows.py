"""Tables -> their lines, and where the texts are in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from estime_metric.table.formats import FORMATS, Delimited, Line, format_of
from estime_metric.table.output import GZIP


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


def read_rows(path: Path, layout: Layout = TABLES) -> Iterator[Line]:
    """The lines of a table.

    The file's name ends in one of `FORMATS`, all except Parquet also followed by ``.gz``; ``-``
    is JSON Lines on standard input. The file is opened once, and may be moved away while it is read.

    Raises:
        ValueError: another ending; an encoding other than UTF-8; a column twice in a header or a
            schema; a file that is damaged.
        ImportError: Parquet without pyarrow.
        OSError: the file cannot be read.
    """
    if path.is_dir():
        raise ValueError(f"Expected a file, but {str(path)!r} is a folder.")
    table_format = format_of(path)
    if table_format is None:
        raise ValueError(
            f"Expected a file name that ends in {', '.join(FORMATS)} (all except .parquet can be "
            f"followed by {GZIP}), but got {str(path)!r}. Pass text files with one text per line as "
            "`source_file` and `summary_files`."
        )
    if layout.delimiter is not None and isinstance(table_format, Delimited):
        table_format = Delimited(layout.delimiter)
    return table_format.read(path)


def is_table(path: Path) -> bool:
    """Whether the name of a file is that of a table, or standard input."""
    return format_of(path) is not None


def has_text_cells(path: Path) -> bool:
    """Whether all cells of a file are text, as in CSV, so that ``7`` is not a number."""
    return isinstance(format_of(path), Delimited)


def check_delimiter(layout: Layout, paths: Sequence[Path]) -> None:
    """Refuses a delimiter if no file is CSV (ValueError)."""
    if layout.delimiter is not None and paths and not any(map(has_text_cells, paths)):
        raise ValueError(f"Expected `delimiter` with .csv or .tsv, but got {paths[0].name!r}.")


def header_hint(*paths: Path) -> str:
    """What to add to the message that tables have no rows: the only row of one may be a pair."""
    if all(path.is_file() and not path.stat().st_size for path in paths):
        return f" (the {'file is' if len(paths) == 1 else 'files are'} empty)"
    return " (the first row is read as the header)" if any(map(has_text_cells, paths)) else ""
