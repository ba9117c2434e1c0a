"""Tables of scores and judgements on disk -> grids: finds files, columns and measures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd

from estime_metric.measures import HIGHER_IS_BETTER, measure_of
from estime_metric.studies.columns import DOCUMENT_COLUMNS, KEY, SYSTEM_COLUMNS
from estime_metric.studies.keyed import Names, numeric_columns, read_keyed
from estime_metric.studies.meta.grid import Grid, join
from estime_metric.table.output import record_path
from estime_metric.table.rows import is_table


def read_grids(
    scores: str | Path,
    judgements: str | Path,
    *,
    measures: Sequence[str] | None = None,
    qualities: Sequence[str] | None = None,
    directions: Mapping[str, bool] = HIGHER_IS_BETTER,
    not_measures: Collection[str] = (),
    document: Names = DOCUMENT_COLUMNS,
    system: Names = SYSTEM_COLUMNS,
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
            others are negated.
        not_measures: numeric columns that are used only if they are listed, such as line numbers.
        document, system: what their columns can be called; the first name that a table has is used.
        missing: as in `join`.

    Raises:
        TypeError, ValueError: a column, a measure or a direction is missing, or the tables do not
            fit.
        OSError: a file cannot be read.
    """
    key = (document, system)
    judged = _chosen("qualities", qualities, Path(judgements), key, not_measures)
    scored = _chosen("measures", measures, Path(scores), key, not_measures)
    is_higher_better: dict[str, bool] = {}
    for name, (_, column) in scored.items():
        for key_of_direction in (measure_of(column), column, measure_of(name), name):
            if key_of_direction in directions:
                is_higher_better[name] = directions[key_of_direction]
    if unknown := [name for name in scored if name not in is_higher_better]:
        raise ValueError(
            f"Expected a direction for every measure, but it is unknown for {', '.join(unknown)}. Set it with "
            "`directions` (--higher, --lower)."
        )
    return [
        join(
            table[[*KEY, column]].rename(columns={column: name}),
            judgement,
            name,
            quality,
            lower_is_better=not is_higher_better[name],
            missing=missing,
        )
        for judgement, quality in judged.values()
        for name, (table, column) in scored.items()
    ]


def _chosen(
    argument: str,
    wanted: Sequence[str] | None,
    path: Path,
    key: tuple[Names, Names],
    skipped: Collection[str],
) -> dict[str, tuple[pd.DataFrame, str]]:
    """The ``wanted`` columns of numbers of a table or a folder of tables, by their names, each with its
    table; if omitted, all except those that are ``skipped``.
    """
    known, usual = {}, []
    files = [path]
    if path.is_dir():
        tables = sorted(file for file in path.iterdir() if is_table(file))
        records = {record_path(table) for table in tables}
        files = [table for table in tables if table not in records]
    for file in files:
        table = read_keyed(file, *key)
        columns = numeric_columns(table, skipped)
        for column in numeric_columns(table):
            is_only = columns == (column,)
            in_folder = file.stem if is_only else f"{file.stem}.{column}"
            name = column if file == path else in_folder
            if name in known:
                raise ValueError(
                    f"Expected the files in {path.name} to give each measure another name, but two of them are called "
                    f"{name!r}. Rename {file.name}."
                )
            known[name] = (table, column)
            usual += [name] if column in columns else []
    if unknown := [name for name in wanted or () if name not in known]:
        raise ValueError(
            f"Expected argument `{argument}` to name columns of numbers in {path.name} ({', '.join(known)}), but "
            f"got {unknown[0]!r}."
        )
    if not (names := wanted or usual):
        raise ValueError(
            f"Expected {path.name!r} to have a column of numbers to be compared, but it has none."
        )
    return {name: known[name] for name in names}
