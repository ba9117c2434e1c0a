"""Tables with a row per summary: the columns that name its document and its system, and its numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.compare.join import id_of, name_of
from estime_metric.measures import measure_of
from estime_metric.studies.columns import (
    DOCUMENT_COLUMNS,
    KEY,
    SUMMEVAL_SYSTEMS,
    SYSTEM_COLUMNS,
)
from estime_metric.table.rows import has_text_cells
from estime_metric.table.scores import Scores
from estime_metric.table.table import converted

#: Both names of a system of SummEval, in lower case -> its number.
_NUMBERS = {name.casefold(): names[0] for names in SUMMEVAL_SYSTEMS.items() for name in names}
_LISTED = 5  # names that a message lists before it only counts


#: Names that a column can have; the first one that a table has is used.
Names = str | Sequence[str]


def read_keyed(
    path: str | Path, document: Names = DOCUMENT_COLUMNS, system: Names = SYSTEM_COLUMNS
) -> pd.DataFrame:
    """A table with a row per summary; ``document`` and ``system`` are text, whatever the file calls
    them, and columns of numbers are numbers, in CSV too. The index is the number of each line.

    Args:
        path: in any format of `estime score`; also its output, whose prefix is removed and whose
            ``signature`` becomes a column.
        document, system: what the columns can be called.

    Raises:
        ValueError: no rows, or no such column.
        OSError, ImportError: the file cannot be read.
    """
    path = Path(path)
    table = keyed(Scores.read(path).frame, path.name, document, system)
    if has_text_cells(path):
        texts = table.columns.difference([*KEY, *table.select_dtypes(("number", "bool"))])
        table = table.assign(**{name: converted(table[name]) for name in texts})
    return table


def keyed(
    table: pd.DataFrame,
    name: str,
    document: Names = DOCUMENT_COLUMNS,
    system: Names = SYSTEM_COLUMNS,
) -> pd.DataFrame:
    """A table with the columns ``document`` and ``system`` as `read_keyed` gives them, behind its other
    columns; ``name`` is what messages call it.
    """
    documents = _column_of("documents", table, name, document)
    systems = _column_of("systems", table, name, system)
    others = table.drop(columns=[documents, systems, *KEY], errors="ignore")
    names = table[systems]
    if systems == "n_errors" and "n_missing" in table:  # the errors that were requested
        names = pd.to_numeric(names) + pd.to_numeric(table["n_missing"])
    return others.assign(document=table[documents].map(id_of), system=names.map(name_of))


def numeric_columns(table: pd.DataFrame, skipped: Collection[str] = ()) -> tuple[str, ...]:
    """The columns in which at least half of the cells that are not empty are numbers, so that a stray
    word is an error and not a column of text. ``NAME_layerLAYER`` is skipped if ``NAME`` is, and so is
    an index that pandas has written unasked.
    """
    columns = []
    for name in table.columns.difference([*KEY, "Unnamed: 0"], sort=False):
        filled = table[name].dropna()
        numbers = pd.to_numeric(filled, errors="coerce").notna()
        if measure_of(str(name)) not in skipped and len(filled) and numbers.mean() >= 0.5:
            columns.append(str(name))
    return tuple(columns)


def by_summary(
    table: pd.DataFrame, columns: Sequence[str], where: str, systems: Collection[str] = ()
) -> pd.DataFrame:
    """Some columns of a table as float64, by document and system; NaN in an empty cell.

    Args:
        table: one row per summary, with its key as `keyed` gives it.
        columns: columns of numbers.
        where: what the table is called in messages.
        systems: names of systems; a system of SummEval that has another name than these
            (``LEAD-3``, ``M0``) gets it.

    Raises:
        TypeError: a cell is neither empty nor a number.
        KeyError: a column is missing.
        ValueError: a name is empty, a summary occurs twice, or a number is infinite.
    """
    if len(nameless := table.index[(table[KEY] == "").any(axis=1)]):
        raise ValueError(
            f"Expected {where} to name document and system in each row, but row {listed(nameless)} lacks one."
        )
    keys = table[KEY].assign(system=known_systems(table["system"], systems))
    if len(twice := keys[keys.duplicated()].drop_duplicates()):
        raise ValueError(
            f"Expected {where} to contain each summary once, but {cell_names(twice)} occurs twice."
        )
    cells = table[list(columns)].set_axis(pd.MultiIndex.from_frame(keys))
    return cells.apply(lambda column: _numbers(column, f"column {column.name!r} of {where}"))


def cell_names(keys: pd.DataFrame | pd.MultiIndex) -> str:
    """Documents and systems, as `listed`."""
    return listed([f"({document}, {system})" for document, system in keys.to_numpy()])


def listed(cells: Sequence[Any]) -> str:
    """The first few of ``cells``, and how many more there are."""
    shown = ", ".join(map(str, cells[:_LISTED]))
    more = len(cells) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def known_systems(names: pd.Series, systems: Collection[str]) -> pd.Series:
    """Names of systems of SummEval, in any case, by the names that ``systems`` have; other names are
    unchanged.
    """

    def number_of(name: str) -> str:
        return _NUMBERS.get(name.casefold(), name)

    by_number = {number_of(system): system for system in systems}
    return names.map(
        {
            name: name if name in systems else by_number.get(number_of(name), name)
            for name in names.unique()
        }
    )


def _column_of(kind: str, table: pd.DataFrame, name: str, names: Names) -> str:
    """The first column of some names."""
    names = [names] if isinstance(names, str) else names
    if column := next((column for column in names if column in table), None):
        return column
    raise ValueError(
        f"Expected {name!r} to have a column of {kind} ({', '.join(names)}), but its columns "
        f"are {', '.join(map(str, table.columns)) or 'none'}."
    )


def _numbers(cells: pd.Series, what: str) -> pd.Series:
    values = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    if len(strange := cells[values.isna() & cells.notna()]):
        raise TypeError(
            f"Expected {what} to contain numbers, but got {strange.iloc[0]!r} at {cell_names(strange.index[:1])}."
        )
    if len(infinite := values.index[np.isinf(values)]):
        raise ValueError(
            f"Expected {what} to be finite, but got infinity at {cell_names(infinite)}."
        )
    return values
