"""Tables of scores and judgements on disk -> data frames and grids: finds files, columns and
measures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from estime_metric.measures import measure_of
from estime_metric.studies.meta.grid import Grid, join
from estime_metric.table.rows import TABLES, Layout, has_text_cells, read_rows
from estime_metric.table.table import converted, to_frame

READABLE = (".csv", ".jsonl", ".parquet")  # endings of the tables that are found in a folder

#: Names of the columns of documents and of systems that are tried in turn if none is given.
DOCUMENT_COLUMNS = ("document", "doc", "doc_id", "document_id")
SYSTEM_COLUMNS = ("system", "system_id", "summarizer", "model", "model_id")

#: A column's name; or its names in the scores and in the judgements, ``None`` if it is to be
#: found.
ColumnNames = str | tuple[str | None, str | None] | None


def read_grids(
    scores: str | Path,
    judgements: str | Path,
    *,
    measures: Sequence[str] | None = None,
    qualities: Sequence[str] | None = None,
    directions: Mapping[str, bool] | None = None,
    not_measures: Collection[str] = (),
    document: ColumnNames = None,
    system: ColumnNames = None,
    missing: str = "error",
) -> list[Grid]:
    """Reads a grid for each judged quality and measure, ordered by quality and then by measure.

    Args:
        scores: a table, or a folder of tables, with measures called ``FILE``, or ``FILE.COLUMN`` if
            a file contains several columns of numbers.
        judgements: a table.
        measures, qualities: columns or measures of the scores, and columns of the judgements; if
            omitted, all numeric columns except ``not_measures``.
        directions: measure, or column of scores without its layer -> whether higher is better; the
            others are negated. If omitted, higher is better for all.
        not_measures: numeric columns that are used only if they are listed, such as line numbers.
        document, system: their columns; a pair of names if the tables differ. If omitted, the first
            of `DOCUMENT_COLUMNS` or `SYSTEM_COLUMNS` that exists.
        missing: as in `join`.

    Raises:
        TypeError, ValueError: a column or a measure is missing, or the tables do not fit.
        OSError: a file cannot be read.
    """
    documents, systems = (
        names if isinstance(names, tuple) else (names, names) for names in (document, system)
    )
    drop = missing == "drop"
    judged_file = Path(judgements)
    judged = _read(judged_file, documents[1], systems[1])
    qualities = qualities or _numeric_columns(judged, judged_file, not_measures)
    _check_columns(judged, judged_file, "qualities", qualities, allow_missing=drop)
    scored: dict[str, pd.DataFrame] = {}
    higher_is_better: dict[str, bool | None] = {}
    for name, column, table in _measures(
        Path(scores), measures, not_measures, documents[0], systems[0], allow_missing=drop
    ):
        scored[name] = table[["document", "system", column]].rename(columns={column: name})
        keys = (name, measure_of(name), column, measure_of(column))
        higher_is_better[name] = (
            True
            if directions is None
            else next((directions[key] for key in keys if key in directions), None)
        )
    grids = [
        join(
            table,
            judged,
            name,
            quality,
            lower_is_better=higher_is_better[name] is False,
            missing=missing,
        )
        for quality in qualities
        for name, table in scored.items()
    ]
    if unknown := [name for name, direction in higher_is_better.items() if direction is None]:
        raise ValueError(
            f"Expected a direction for every measure, but it is unknown for {', '.join(unknown)}. Set it with "
            "`directions` (--higher, --lower)."
        )
    return grids


def key_columns(
    table: pd.DataFrame,
    where: str,
    documents: Sequence[str],
    systems: Sequence[str],
    advice: str = "",
) -> tuple[str, str]:
    """The columns that name the document and the system of each row: the first of those in
    ``documents`` and in ``systems`` that the table has.

    Raises ValueError if it has none; in its message the table is called ``where``, and ``advice``
    follows.
    """
    columns = []
    for kind, choices in (("document", documents), ("system", systems)):
        column = next((name for name in choices if name in table.columns), None)
        if column is None:
            listed = ", ".join(map(str, table.columns)) or "none"
            raise ValueError(
                f"Expected {where} to have a column of {kind}s ({', '.join(choices)}), but its "
                f"columns are {listed}. {advice}".rstrip()
            )
        columns.append(column)
    document, system = columns
    return document, system


def numeric_columns(table: pd.DataFrame, skipped: Collection[str]) -> tuple[str, ...]:
    """The columns in which at least half of the cells that are not empty are numbers, so that a stray
    word is an error and not a column of text. ``NAME_layerLAYER`` is skipped if ``NAME`` is.
    """
    columns = []
    for name in table.columns:
        filled = table[name].dropna()
        numbers = pd.to_numeric(filled, errors="coerce").notna()
        if measure_of(str(name)) not in skipped and len(filled) and numbers.mean() >= 0.5:
            columns.append(str(name))
    return tuple(columns)


def _measures(
    path: Path,
    wanted: Sequence[str] | None,
    skipped: Collection[str],
    document: str | None,
    system: str | None,
    *,
    allow_missing: bool,
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Each wanted measure: its name, its column, and the table with that column."""
    if not path.is_dir():
        table = _read(path, document, system)
        columns = wanted or _numeric_columns(table, path, skipped)
        _check_columns(table, path, "measures", columns, allow_missing=allow_missing)
        yield from ((column, column, table) for column in columns)
        return
    found = {}
    for file in sorted(file for file in path.iterdir() if file.suffix.lower() in READABLE):
        table = _read(file, document, system)
        columns = _numeric_columns(table, file, skipped)
        for column in columns:
            name = file.stem if len(columns) == 1 else f"{file.stem}.{column}"
            found[name] = (column, table, file)
    unknown = [name for name in wanted or () if name not in found]
    if unknown or not found:
        known, got = (", ".join(names) or "none" for names in (found, unknown))
        raise ValueError(
            f"Expected argument `measures` to name measures in {path} ({known}), but got {got}."
        )
    for name in wanted or found:
        column, table, file = found[name]
        _check_numbers(table, column, file.name, allow_missing=allow_missing)
        yield name, column, table


def _check_columns(
    table: pd.DataFrame, path: Path, argument: str, columns: Sequence[str], *, allow_missing: bool
) -> None:
    for name in columns:
        if name not in table:
            listed = ", ".join(map(str, table.columns))
            raise ValueError(
                f"Expected argument `{argument}` to name columns of {path.name} ({listed}), but "
                f"got {name!r}."
            )
        _check_numbers(table, name, path.name, allow_missing=allow_missing)


def _check_numbers(table: pd.DataFrame, column: str, name: str, *, allow_missing: bool) -> None:
    """As `check_numbers`; raises ValueError also for a missing number, unless ``allow_missing``."""
    check_numbers(table, column, name)
    missing = table.index[table[column].isna()]
    if len(missing) and not allow_missing:
        raise ValueError(
            f"Expected column {column!r} of {name} to contain finite numbers, but line {missing[0]} has "
            'none. With missing="drop" (--drop-missing) its document is excluded.'
        )


def _read(path: Path, document: str | None, system: str | None) -> pd.DataFrame:
    """A table with the columns ``document`` and ``system``, whatever their names in the file are."""
    documents, systems = (
        choices if name is None else (name,)
        for name, choices in ((document, DOCUMENT_COLUMNS), (system, SYSTEM_COLUMNS))
    )
    table = read_table(path, (*documents, *systems))
    advice = "Name it with --document-column or --system-column."
    names = key_columns(table, repr(path.name), documents, systems, advice)
    others = table.drop(columns=[*names, "document", "system"], errors="ignore")
    return others.assign(document=table[names[0]], system=table[names[1]])


def _numeric_columns(table: pd.DataFrame, path: Path, skipped: Collection[str]) -> tuple[str, ...]:
    columns = numeric_columns(table, {*skipped, "document", "system"})
    if not columns:
        raise ValueError(
            f"Expected {path.name!r} to have a column of numbers to be compared, but it has none."
        )
    return columns


def read_table(
    path: str | Path,
    text_columns: Iterable[str] = ("document", "system"),
    layout: Layout = TABLES,
) -> pd.DataFrame:
    """Reads a table as `read_rows` does; the index is the number of each line.

    In CSV, a column of numbers or of true and false becomes one, with ``MISSING`` cells as NaN; other
    columns and the ``text_columns`` stay as written: ``007``, ``NA``.

    Raises ValueError for a file that is not a table or has no rows, naming the line; OSError if it cannot be read,
    ImportError for Parquet without pyarrow.
    """
    path = Path(path)
    table = to_frame(path, read_rows(path, layout))
    if table.empty:
        raise ValueError(f"Expected {path.name} to be a table, but it has no rows.")
    if not has_text_cells(path):
        return table
    texts = set(text_columns)
    others = {name: converted(table[name]) for name in table.columns if name not in texts}
    return table.assign(**others)


def check_numbers(table: pd.DataFrame, column: str, name: str) -> None:
    """Raises ValueError if a cell of a column is neither missing nor a finite number; the message names
    its line and the file ``name``.
    """
    numbers = pd.to_numeric(table[column], errors="coerce").astype(np.float64)
    strange = table[column][~np.isfinite(numbers) & table[column].notna()]
    for line, cell in strange.items():
        shown = repr(cell) if isinstance(cell, str) else str(cell)
        raise ValueError(
            f"Expected column {column!r} of {name} to contain finite numbers, but line {line} has "
            f"{shown}."
        )
