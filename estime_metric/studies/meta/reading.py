"""Tables of scores and judgements on disk -> grids: finds files, columns and measures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd

from estime_metric.measures import measure_of
from estime_metric.studies.columns import KEY
from estime_metric.studies.keyed import numeric_columns, read_keyed
from estime_metric.studies.meta.grid import Grid, join

READABLE = (".csv", ".jsonl", ".parquet")  # endings of the tables that are found in a folder

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
            of `columns.DOCUMENT_COLUMNS` or `columns.SYSTEM_COLUMNS` that exists.
        missing: as in `join`.

    Raises:
        TypeError, ValueError: a column or a measure is missing, or the tables do not fit.
        OSError: a file cannot be read.
    """
    names = (name if isinstance(name, tuple) else (name, name) for name in (document, system))
    of_scores, of_judgements = zip(*names, strict=True)
    judged = _chosen("qualities", qualities, Path(judgements), of_judgements, not_measures)
    scored = _chosen("measures", measures, Path(scores), of_scores, not_measures)
    unknown, lower_is_better = [], {}
    for name, table in scored.items():
        column = table.columns[-1]
        keys = (name, measure_of(name), column, measure_of(column))
        known = [directions[key] for key in keys if key in directions] if directions else []
        lower_is_better[name] = bool(known) and not known[0]
        if directions is not None and not known:
            unknown.append(name)
    grids = [
        join(
            table.set_axis([*KEY, name], axis=1),
            judgement,
            name,
            quality,
            lower_is_better=lower_is_better[name],
            missing=missing,
        )
        for quality, judgement in judged.items()
        for name, table in scored.items()
    ]
    if unknown:
        raise ValueError(
            f"Expected a direction for every measure, but it is unknown for {', '.join(unknown)}. Set it with "
            "`directions` (--higher, --lower)."
        )
    return grids


def _chosen(
    argument: str,
    wanted: Sequence[str] | None,
    path: Path,
    key: tuple[str | None, str | None],
    skipped: Collection[str],
) -> dict[str, pd.DataFrame]:
    """The ``wanted`` columns of numbers of a table or a folder of tables, by their names, each as a
    table with the key in front; if omitted, all except those that are ``skipped``.
    """
    known, usual = {}, []
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in READABLE)
    for file in files:
        table = read_keyed(file, *key)
        columns = numeric_columns(table, skipped)
        for column in numeric_columns(table):
            is_only = len(columns) == 1 and column in columns
            in_folder = file.stem if is_only else f"{file.stem}.{column}"
            name = column if file == path else in_folder
            known[name] = table[[*KEY, column]]
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
