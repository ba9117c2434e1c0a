"""Tables of scores and judgements on disk -> data frames and grids: finds files, columns and
measures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from estime_metric.comparison.reading import READABLE, check_numbers, read_table
from estime_metric.measures import measure_of
from estime_metric.studies.meta.grid import Grid, join

#: Names of the columns of documents and of systems that are tried in turn if none is given.
DOCUMENT_COLUMNS = ("document", "doc", "doc_id", "document_id")
SYSTEM_COLUMNS = ("system", "system_id", "summarizer", "model", "model_id")

#: A column's name; or its names in the scores and in the judgements, ``None`` if it is to be
#: found.
ColumnNames = str | tuple[str | None, str | None] | None


class _Measured(NamedTuple):
    """A measure: its table, its column in it, the table's columns of documents and systems, and the
    name of its file.
    """

    table: pd.DataFrame
    column: str
    ids: tuple[str, str]
    file: str


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
    judged, judged_ids = _read(Path(judgements), documents[1], systems[1])
    judged_qualities = (
        tuple(qualities)
        if qualities
        else _numeric(judged, judged_ids, Path(judgements), not_measures)
    )
    _check_columns(judged, Path(judgements), "qualities", judged_qualities)
    by_name = _measures(Path(scores), measures, not_measures, documents[0], systems[0])
    higher: dict[str, bool | None] = dict.fromkeys(by_name, True)
    if directions is not None:
        for name, measured in by_name.items():
            column = measured.column
            tried = (name, measure_of(name), column, measure_of(column))
            higher[name] = next((directions[each] for each in tried if each in directions), None)
    drop = missing == "drop"
    used = [(judged, quality, Path(judgements).name) for quality in judged_qualities]
    used += [(measured.table, measured.column, measured.file) for measured in by_name.values()]
    for table, column, file in used:
        check_numbers(table, column, file, allow_missing=drop)
    grids = [
        join(
            measured.table.rename(columns={measured.column: name}),
            judged,
            name,
            quality,
            document=(measured.ids[0], judged_ids[0]),
            system=(measured.ids[1], judged_ids[1]),
            lower_is_better=higher[name] is False,
            missing=missing,
        )
        for quality in judged_qualities
        for name, measured in by_name.items()
    ]
    if unknown := [name for name, direction in higher.items() if direction is None]:
        raise ValueError(
            f"Expected a direction for every measure, but it is unknown for {', '.join(unknown)}. Set it with "
            "`directions` (--higher, --lower)."
        )
    return grids


def _measures(
    path: Path,
    wanted: Sequence[str] | None,
    skipped: Collection[str],
    document: str | None,
    system: str | None,
) -> dict[str, _Measured]:
    """Name -> table, column of scores, and columns of documents and systems."""
    if not path.is_dir():
        table, ids = _read(path, document, system)
        names = wanted or _numeric(table, ids, path, skipped)
        _check_columns(table, path, "measures", names)
        return {name: _Measured(table, name, ids, path.name) for name in names}
    by_name: dict[str, _Measured] = {}
    for file in sorted(file for file in path.iterdir() if file.suffix.lower() in READABLE):
        table, ids = _read(file, document, system)
        numeric = _numeric(table, ids, file, skipped)
        for column in numeric:
            name = file.stem if len(numeric) == 1 else f"{file.stem}.{column}"
            by_name[name] = _Measured(table, column, ids, file.name)
    unknown = [name for name in wanted or () if name not in by_name]
    if unknown or not by_name:
        known, got = (", ".join(names) or "none" for names in (by_name, unknown))
        raise ValueError(
            f"Expected argument `measures` to name measures in {path} ({known}), but got {got}."
        )
    return {name: by_name[name] for name in wanted or by_name}


def _check_columns(table: pd.DataFrame, path: Path, argument: str, columns: Sequence[str]) -> None:
    for name in columns:
        if name not in table:
            listed = ", ".join(map(str, table.columns))
            raise ValueError(
                f"Expected argument `{argument}` to name columns of {path.name} ({listed}), but "
                f"got {name!r}."
            )


def _read(
    path: Path, document: str | None, system: str | None
) -> tuple[pd.DataFrame, tuple[str, str]]:
    """A table, and its columns of documents and systems."""
    named = [name for name in (document, system) if name is not None]
    table = read_table(path, (*DOCUMENT_COLUMNS, *SYSTEM_COLUMNS, *named))
    ids = []
    for kind, name, known in (
        ("document", document, DOCUMENT_COLUMNS),
        ("system", system, SYSTEM_COLUMNS),
    ):
        name = name or next((each for each in known if each in table.columns), None)
        if name is None or name not in table.columns:
            listed = ", ".join(map(str, table.columns)) or "none"
            raise ValueError(
                f"Expected {path.name!r} to have a column of {kind}s, but its columns are {listed}. "
                f"Name it with `{kind}` (--{kind}-column)."
            )
        ids.append(name)
    return table, (ids[0], ids[1])


def _numeric(
    table: pd.DataFrame, ids: tuple[str, str], path: Path, skipped: Collection[str]
) -> tuple[str, ...]:
    """The columns that contain mostly numbers: a stray word is an error; ``NAME_layerLAYER`` is
    skipped if ``NAME`` is.
    """
    numbers = tuple(
        str(name)
        for name in table.columns
        if name not in ids
        and measure_of(str(name)) not in skipped
        and pd.to_numeric(table[name], errors="coerce").notna().mean() >= 0.5
    )
    if not numbers:
        raise ValueError(
            f"Expected {path.name!r} to have a column of numbers to be compared, but it has none."
        )
    return numbers
