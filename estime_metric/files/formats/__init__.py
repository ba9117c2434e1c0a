"""The formats of tables, a module each.

A reader is a function from a path and `ReadOptions` to the lines of the file. It yields them one
after the other and never has all of them in memory. To add a format, write such a reader and add
its ending to `READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from estime_metric.files.formats import delimited, json_array, json_lines, parquet
from estime_metric.files.lines import Line
from estime_metric.files.options import ReadOptions
from estime_metric.files.streams import COMPRESSED, is_standard

Reader = Callable[[Path, ReadOptions], Iterator[Line]]

#: The ending of a file's name -> what reads it.
READERS: dict[str, Reader] = {
    ".jsonl": json_lines.read,
    ".ndjson": json_lines.read,
    ".json": json_array.read,
    ".csv": delimited.read,
    ".tsv": delimited.read,
    ".parquet": parquet.read,
}
READABLE = tuple(ending for ending in READERS if ending != ".ndjson")
NEVER_COMPRESSED = (".parquet",)  # compresses its own pages
_DELIMITED = (".csv", ".tsv")  # formats whose cells are all text
ENCODED = (*_DELIMITED, ".txt")  # formats that `ReadOptions.encoding` applies to


def reader_of(path: Path) -> Reader:
    """What reads a file, by the ending of its name; standard input is JSON Lines.

    Raises ValueError for any other ending.
    """
    if is_standard(path):
        return json_lines.read
    ending = format_ending(path)
    if ending not in READERS or (ending in NEVER_COMPRESSED and path.suffix.lower() in COMPRESSED):
        hint = ""
        if ending == ".txt":
            hint = " Pass text files with one text per line as `source_file` and `summary_files`."
        raise ValueError(
            f"Expected a file name that ends in {', '.join(READABLE)} (all except .parquet can be "
            f"followed by {' or '.join(COMPRESSED)}), but got {path.name!r}.{hint}"
        )
    return READERS[ending]


def format_ending(path: Path) -> str:
    """The ending that names the format of a file, in lower case and without the ending of the
    compression.
    """
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] in COMPRESSED:
        endings.pop()
    return endings[-1] if endings else ""


def has_text_cells(path: Path) -> bool:
    """Whether all cells of a file are text, as in CSV, so that ``7`` is not a number."""
    return not is_standard(path) and format_ending(path) in _DELIMITED
