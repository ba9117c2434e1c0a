"""Tables of scores and judgements on disk -> data frames."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from estime_metric import files

READABLE = (".csv", ".jsonl", ".parquet")  # endings of the tables that are found in a folder

#: Cells of CSV that represent a missing number.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")
_TRUTHS = {"true": True, "false": False}


def read_table(
    path: str | Path,
    text_columns: Iterable[str] = ("document", "system"),
    options: files.ReadOptions = files.DEFAULT_OPTIONS,
) -> pd.DataFrame:
    """Reads a table as `files.read_rows` does; the index is the number of each line.

    In CSV, a column of numbers or of true and false becomes one, with `MISSING` cells as NaN; other
    columns and the ``text_columns`` stay as written: ``007``, ``NA``.

    Raises ValueError for a file that is not a table or has no rows, naming the line; OSError if it cannot be read,
    ImportError for Parquet without pyarrow.
    """
    path = Path(path)
    rows, numbers = [], []
    for line in files.read_rows(path, options):
        if line.problem:
            raise ValueError(
                f"Expected {path.name} to be a table, but line {line.number} {line.problem}."
            )
        rows.append(line.row)
        numbers.append(line.number)
    if not rows:
        raise ValueError(f"Expected {path.name} to be a table, but it has no rows.")
    table = pd.DataFrame(rows, index=pd.Index(numbers, name=files.LINE))
    if not files.has_text_cells(path):
        return table
    texts = set(text_columns)
    others = {name: _converted(table[name]) for name in table.columns if name not in texts}
    return table.assign(**others)


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
