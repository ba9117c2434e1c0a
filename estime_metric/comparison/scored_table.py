"""A table that ``estime score -o`` may have written -> its lines, with plain names of the output
columns; the same lines as pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from estime_metric import files
from estime_metric.measures import MEASURES, measure_of

FILE = "file"  # the column that names the input of a row if several inputs were scored

#: Columns that `estime score` adds in addition to the measures.
_FURTHER_COLUMNS = (files.LINE, FILE, files.FLAG, files.SIGNATURE)


@dataclass(frozen=True)
class ScoredTable:
    """The lines of a table, whose rows have a column ``signature`` if their signature is known.

    Attributes:
        lines: all lines, also invalid ones. A row with prefixed output columns has each of them
            twice: as it was written, and under its plain name.
        prefix: the prefix of the output columns, ``--prefix`` of ``estime score``; empty if there is
            none.
    """

    lines: list[files.Line]
    prefix: str = ""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in the order in which they first occur."""
        return list(dict.fromkeys(name for line in self.lines for name in line.row))

    def measure_in(self, column: str) -> str:
        """The measure in a column, without the prefix and the layer; any other name as it is."""
        return measure_of(column.removeprefix(self.prefix))


def read_scored_table(
    path: Path,
    options: files.ReadOptions = files.DEFAULT_OPTIONS,
    own_columns: Collection[str] = (),
) -> ScoredTable:
    """Reads a table once; it need not have scores.

    Args:
        path: in any format of `files.read_rows`; ``-`` for standard input.
        options: how it is read.
        own_columns: columns of the user that an output column does not replace if, without its
            prefix, it has the same name.

    Raises:
        ValueError, OSError, ImportError: as `files.read_scored`.
    """
    meta = files.read_meta(path)
    prefix = _prefix(meta)
    lines = list(files.read_scored(path, options))
    if prefix:
        lines = [
            replace(line, row=_with_plain_names(line.row, prefix, meta, own_columns))
            if not line.problem
            else line
            for line in lines
        ]
    return ScoredTable(lines, prefix)


def is_scored(row: files.Row, layout: files.Layout) -> bool:
    """Whether a row has a signature. In a row with both texts, it must be one of ESTIME, because
    pairs can have a column of this name, too.
    """
    if layout.source_column in row and layout.summary_column in row:
        return str(row.get(files.SIGNATURE)).startswith("ESTIME|")
    return files.SIGNATURE in row


def pairs_of(lines: Iterable[files.Line], path: Path, layout: files.Layout) -> files.Pairs:
    """The lines of a table as pairs, as `files.read_pairs` gives them, without reading the file
    again: standard input can be read only once. Raises `files.ColumnError`.
    """
    given = list(lines)
    columns = list(dict.fromkeys(name for line in given for name in line.row))
    for argument in ("source_column", "summary_column"):
        column = getattr(layout, argument)
        if columns and column not in columns:
            raise files.ColumnError(path, argument, column, columns)
    pairs = files.Pairs()
    for line in given:
        problem = line.problem or files.pair_problem(
            line.row, layout.source_column, layout.summary_column
        )
        pairs.add_row(replace(line, problem=problem), layout)
    return pairs


def _prefix(meta: dict[str, Any]) -> str:
    """The prefix that the metadata of a table states."""
    options = meta.get("options")
    return str(options.get("prefix") or "") if isinstance(options, dict) else ""


def _with_plain_names(
    row: files.Row, prefix: str, meta: dict[str, Any], own_columns: Collection[str]
) -> files.Row:
    """A row with its prefixed output columns also under their plain names, which replace columns of
    the user except ``own_columns``.
    """
    plain: files.Row = {}
    if meta.get(files.SIGNATURE):
        plain[files.SIGNATURE] = meta[files.SIGNATURE]
    for name, cell in row.items():
        column = name.removeprefix(prefix)
        is_output = measure_of(column) in MEASURES or column in _FURTHER_COLUMNS
        if column != name and is_output and not (column in own_columns and column in row):
            plain[column] = cell
    return {**row, **plain}
