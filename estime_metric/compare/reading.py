"""Tables of scores and judgements on disk -> data frames."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric import files
from estime_metric.measures import MEASURES, measure_of

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

    If the table has a record, only the measures that it names are measures: other columns with such
    names are yours and are dropped. A prefix that ``estime score`` has put in front of its columns is
    removed. The column ``signature`` is added if the record has it.
    In CSV, measures become numbers, and other columns stay as written.

    Args:
        path: in any format of `files.read_rows`. It can be any other table, too.
        layout: how it is read.
        own_columns: columns of the user, which are kept as they are.
        skipped: is extended by a sentence for each line that cannot be read. Without it, such a
            line is an error.

    Raises:
        ValueError: a line cannot be read, or the metadata of the table is damaged.
        OSError, ImportError: as `read_table`.
    """
    path = Path(path)
    meta = files.read_meta(path)
    is_aligned = layout.source_file is not None
    lines = (files.read_lines if is_aligned else files.read_rows)(path, layout)
    table = _frame(path, lines, skipped)
    prefix = _prefix(meta)
    plain_names = [column.removeprefix(prefix) for column in table]
    measures = meta.get("measures", [name for name in plain_names if measure_of(name) in MEASURES])
    written = {f"{prefix}{name}": name for name in (*measures, *_FURTHER_COLUMNS)}
    plain = {
        column: written[column]
        for column in table.columns.intersection(list(written))
        if written[column] not in own_columns or written[column] == column
    }
    foreign = [
        column
        for column in table.columns.difference([*plain, *own_columns], sort=False)
        if measure_of(column) in MEASURES or column in plain.values()
    ]
    table = table.drop(columns=foreign).rename(columns=plain)
    if files.has_text_cells(path):
        numbers = table.columns.intersection(list(measures))
        table = table.assign(**{name: _converted(table[name]) for name in numbers})
    if meta.get(files.SIGNATURE):
        table[files.SIGNATURE] = meta[files.SIGNATURE]
    return table


def has_scores(table: pd.DataFrame) -> bool:
    """Whether a table of `read_scores` has scores of ESTIME."""
    return files.SIGNATURE in table and str(table[files.SIGNATURE].iloc[0]).startswith("ESTIME|")


def rows_with_texts(
    table: pd.DataFrame, path: Path, layout: files.Layout, skipped: list[str]
) -> pd.DataFrame:
    """The rows of a table that have two texts, for a scorer; ``skipped`` is extended by a sentence for
    each other row.

    Raises `files.ColumnError` if a column of texts is missing, ValueError if no row has two texts.
    """
    columns = [layout.source_column, layout.summary_column]
    for argument in ("source_column", "summary_column"):
        column = getattr(layout, argument)
        if column not in table:
            raise files.ColumnError(path, argument, column, list(table.columns))
    texts = table[columns].astype(object).where(table[columns].notna(), None)
    problems = {
        line: problem
        for line, row in texts.to_dict("index").items()
        if (problem := files.pair_problem(row, *columns))
    }
    skipped += [f"{path.name} line {line}: {problem}" for line, problem in problems.items()]
    if len(problems) == len(table):
        raise ValueError(f"Expected pairs in {path.name}, but got none ({skipped[0]}).")
    return table.drop(index=list(problems))


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


def check_numbers(table: pd.DataFrame, column: str, name: str) -> None:
    """Raises ValueError if a cell of a column is neither missing nor a finite number; the message names
    its line and the file ``name``.
    """
    numbers = pd.to_numeric(table[column], errors="coerce").astype(np.float64)
    strange = table[column][~np.isfinite(numbers) & table[column].notna()]
    for line, cell in strange.items():
        raise ValueError(
            f"Expected column {column!r} of {name} to contain finite numbers, but line {line} has "
            f"{quoted(cell)}."
        )


def quoted(cell: Any) -> str:
    """A cell for a message: text in quotation marks, a number as it is."""
    return repr(cell) if isinstance(cell, str) else str(cell)


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
