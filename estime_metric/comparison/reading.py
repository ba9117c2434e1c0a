"""Tables of scores and judgements on disk -> data frames."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from estime_metric import files
from estime_metric.measures import MEASURES, measure_of

READABLE = (".csv", ".jsonl", ".parquet")  # endings of the tables that are found in a folder

#: Cells of CSV that represent a missing number.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")
_TRUTHS = {"true": True, "false": False}

#: Columns that ``estime score`` adds in addition to the measures.
_FURTHER_COLUMNS = (files.LINE, files.FILE, files.FLAG, files.SOURCE_ID, files.SIGNATURE)


def read_table(
    path: str | Path,
    text_columns: Iterable[str] = ("document", "system"),
    layout: files.Layout = files.TABLES,
) -> pd.DataFrame:
    """Reads a table as `files.read_rows` does; the index is the number of each line.

    In CSV, a column of numbers or of true and false becomes one, with `MISSING` cells as NaN; other
    columns and the ``text_columns`` stay as written: ``007``, ``NA``.

    Raises ValueError for a file that is not a table or has no rows, naming the line; OSError if it cannot be read,
    ImportError for Parquet without pyarrow.
    """
    path = Path(path)
    table = _frame(path, files.read_rows(path, layout), None)
    if table.empty:
        raise ValueError(f"Expected {path.name} to be a table, but it has no rows.")
    if not files.has_text_cells(path):
        return table
    texts = set(text_columns)
    others = {name: _converted(table[name]) for name in table.columns if name not in texts}
    return table.assign(**others)


def read_scores(
    path: str | Path,
    layout: files.Layout = files.TABLES,
    *,
    own_columns: Collection[str] = (),
    skipped: list[str] | None = None,
) -> pd.DataFrame:
    """Reads a table that ``estime score -o`` or `EstimeResult.save` has written; the index is the
    number of each line.

    The columns that ``estime score`` has added have their plain names, also if the file has a
    prefix in front of them, and replace other columns with such names. ``signature`` is always one
    of them if it is known. In CSV, measures become numbers, and other columns stay as written.

    Args:
        path: in any format of `files.read_rows`. It can be any other table, too.
        layout: how it is read.
        own_columns: columns of the user, which a column with a prefix does not replace.
        skipped: is extended by a sentence for each line that cannot be read. Without it, such a
            line is an error.

    Raises:
        ValueError: a line cannot be read, or the metadata of the table is damaged.
        OSError, ImportError: as `read_table`.
    """
    path = Path(path)
    meta = files.read_meta(path)
    table = _frame(path, files.read_rows(path, layout), skipped)
    prefix = _prefix(meta)
    if prefix:
        kept = set(own_columns) & set(table.columns)
        replaced = [name for name in table.columns if _is_output(name) and name not in kept]
        plain = {name: name.removeprefix(prefix) for name in table.columns if name not in replaced}
        table = table.drop(columns=replaced).rename(
            columns={
                name: new for name, new in plain.items() if _is_output(new) and new not in kept
            }
        )
    if files.has_text_cells(path):
        measures = [name for name in table.columns if measure_of(name) in MEASURES]
        table = table.assign(**{name: _converted(table[name]) for name in measures})
    if meta.get(files.SIGNATURE):
        table[files.SIGNATURE] = meta[files.SIGNATURE]
    return table


def check_column(table: pd.DataFrame, column: str, name: str, advice: str = "") -> None:
    """Raises ValueError if a table lacks a column; the message names the file ``name`` and ends
    with ``advice``.
    """
    if column not in table:
        raise ValueError(
            f"Expected a column {column!r} in {name}, but its columns are "
            f"{', '.join(table.columns) or 'none'}. {advice}".rstrip()
        )


def check_filled(cells: pd.Series, name: str) -> None:
    """Raises ValueError if a cell of a column of texts is empty; the message names its line and the
    file ``name``.
    """
    for line in cells.index[cells == ""]:
        raise ValueError(
            f"Expected a value in column {cells.name!r} in each row of {name}, but line {line} has "
            "none."
        )


def check_numbers(table: pd.DataFrame, column: str, name: str, *, allow_missing: bool) -> None:
    """Raises ValueError if a cell of a column is not a number, or if it is empty, unless
    ``allow_missing``. The message names the line and the file ``name``.
    """
    numbers = pd.to_numeric(table[column], errors="coerce")
    strange = table[column][numbers.isna() & table[column].notna()]
    for line, cell in strange.items():
        raise ValueError(
            f"Expected column {column!r} of {name} to contain numbers, but line {line} has {cell!r}."
        )
    empty = table.index[numbers.isna()]
    if len(empty) and not allow_missing:
        raise ValueError(
            f"Expected column {column!r} of {name} to contain numbers, but line {empty[0]} has "
            'none. With missing="drop" (--drop-missing) its document is excluded.'
        )


def _frame(path: Path, lines: Iterator[files.Line], skipped: list[str] | None) -> pd.DataFrame:
    """The rows of lines that can be read; the sentences on the others go to ``skipped``."""
    rows, numbers = [], []
    for line in lines:
        if not line.problem:
            rows.append(line.row)
            numbers.append(line.number)
        elif skipped is None:
            raise ValueError(
                f"Expected {path.name} to be a table, but line {line.number} {line.problem}."
            )
        else:
            skipped.append(f"{path.name} line {line.number}: {line.problem}")
    return pd.DataFrame(rows, index=pd.Index(numbers, name=files.LINE))


def _prefix(meta: dict[str, Any]) -> str:
    """The prefix of the output columns that the metadata of a table states; empty without one."""
    options = meta.get("options")
    return str(options.get("prefix") or "") if isinstance(options, dict) else ""


def _is_output(column: str) -> bool:
    return measure_of(column) in MEASURES or column in _FURTHER_COLUMNS


def _converted(cells: pd.Series) -> pd.Series:
    """A column of texts as numbers, or as true and false, if it is one."""
    known = cells[~cells.isin(MISSING)].dropna()
    if known.empty:
        return pd.Series(float("nan"), index=cells.index)
    words = known.str.lower()
    if words.isin(_TRUTHS).all():
        truths = words.map(_TRUTHS)
        return truths.astype(bool) if len(known) == len(cells) else truths.reindex(cells.index)
    numbers = pd.to_numeric(known, errors="coerce")
    return cells.replace("", None) if numbers.isna().any() else numbers.reindex(cells.index)
