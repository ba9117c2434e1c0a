"""Tables of scores and judgements on disk -> data frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.table.rows import (
    ColumnError,
    Layout,
    pair_problem,
)
from estime_metric.table.table import SIGNATURE


def has_scores(table: pd.DataFrame) -> bool:
    """Whether a table of `table.read` has scores of ESTIME."""
    return SIGNATURE in table and str(table[SIGNATURE].iloc[0]).startswith("ESTIME|")


def rows_with_texts(
    table: pd.DataFrame, path: Path, layout: Layout, skipped: list[str]
) -> pd.DataFrame:
    """The rows of a table that have two texts, for a scorer; ``skipped`` is extended by a sentence for
    each other row.

    Raises `ColumnError` if a column of texts is missing, ValueError if no row has two texts.
    """
    columns = [layout.source_column, layout.summary_column]
    for argument in ("source_column", "summary_column"):
        column = getattr(layout, argument)
        if column not in table:
            raise ColumnError(path, argument, column, list(table.columns))
    texts = table[columns].astype(object).where(table[columns].notna(), None)
    problems = {
        line: problem
        for line, row in texts.to_dict("index").items()
        if (problem := pair_problem(row, *columns))
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
