"""The formats of tables, a module each.

A reader is a function from a path and `Layout` to the lines of the file. It yields them one
after the other; all except the reader of a JSON array never have the whole file in memory. To add a
format, write such a reader and add its ending to `READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from estime_metric.files.formats import delimited, json_objects, parquet
from estime_metric.files.layout import TABLES, Layout
from estime_metric.files.lines import Line
from estime_metric.files.streams import GZIP, format_ending, is_standard

Reader = Callable[[Path, Layout], Iterator[Line]]

#: The ending of a file's name -> what reads it.
READERS: dict[str, Reader] = {
    ".jsonl": json_objects.read_lines,
    ".ndjson": json_objects.read_lines,
    ".json": json_objects.read_array,
    ".csv": delimited.read,
    ".tsv": delimited.read,
    ".parquet": parquet.read,
}
READABLE = tuple(ending for ending in READERS if ending != ".ndjson")
_DELIMITED = (".csv", ".tsv")  # formats whose cells are all text


def read_rows(path: Path, layout: Layout = TABLES) -> Iterator[Line]:
    """The lines of a table, each with its row or with what is wrong with it.

    The file's name ends in one of ``READABLE``, all except Parquet also followed by ``.gz``; ``-``
    is JSON Lines on standard input.

    Raises:
        ValueError: another ending; an encoding other than UTF-8 and UTF-16; a column twice in a
            header or a schema; a file that is damaged.
        ImportError: Parquet without pyarrow.
        OSError: the file cannot be read.
    """
    ending = ".jsonl" if is_standard(path) else format_ending(path)
    if ending not in READERS or path.name.lower().endswith(f".parquet{GZIP}"):
        hint = ""
        if ending == ".txt":
            hint = " Pass text files with one text per line as `source_file` and `summary_files`."
        raise ValueError(
            f"Expected a file name that ends in {', '.join(READABLE)} (all except .parquet can be "
            f"followed by {GZIP}), but got {path.name!r}.{hint}"
        )
    return READERS[ending](path, layout)


def has_text_cells(path: Path) -> bool:
    """Whether all cells of a file are text, as in CSV, so that ``7`` is not a number."""
    return format_ending(path) in _DELIMITED


def header_hint(*paths: Path) -> str:
    """What to add to the message that tables have no rows: the only row of one may be a pair."""
    return " (the first row is read as the header)" if any(map(has_text_cells, paths)) else ""
