"""Tables of scores and judgements on disk -> grids: finding the columns, files and measures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from estime_metric.cli import options

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.meta import Grid

#: Names under which the columns of documents and systems are looked for, where none is given.
DOCUMENT_COLUMNS = ("document", "doc", "doc_id", "document_id")
SYSTEM_COLUMNS = ("system", "system_id", "summarizer", "model", "model_id")

#: Columns of documents and systems, each in the scores and in the judgements; ``None`` where it is to be found.
Columns = tuple[tuple[str | None, str | None], tuple[str | None, str | None]]

#: A table, the column of a measure in it, and its columns of documents and systems.
Measured = tuple["DataFrame", str, tuple[str, str]]


def read_grids(
    scores: Path,
    judgements: Path,
    measure: str | None,
    judgement: str | None,
    lower: str | None,
    columns: Columns,
    drop_missing: bool,
) -> list[Grid]:
    """A grid for each judgement and measure.

    Args:
        scores: a table, or a folder of tables.
        judgements: a table.
        measure: names of measures with commas between; all columns of numbers where left out.
        judgement: likewise.
        lower: measures of which lower is better.
        columns: of documents and systems.
        drop_missing: leave out what only one table holds.

    Raises:
        TypeError, ValueError, OSError: a file, a column or a measure is not there, or the tables do not fit.
    """
    from estime_metric.meta import join

    (scored_document, judged_document), (scored_system, judged_system) = columns
    judged, judged_ids = _read(judgements, judged_document, judged_system)
    qualities = options.parse_names(judgement) or _numeric(judged, judged_ids, judgements)
    measured = _measures(scores, measure, scored_document, scored_system)
    negated = options.parse_names(lower) or ()
    for name in negated:
        if name not in measured:
            raise ValueError(f"Expected --lower to name measures ({', '.join(measured)}), but got {name!r}.")
    return [
        join(
            table.rename(columns={column: name}),
            judged,
            name,
            quality,
            document=(ids[0], judged_ids[0]),
            system=(ids[1], judged_ids[1]),
            lower_is_better=name in negated,
            missing="drop" if drop_missing else "error",
        )
        for quality in qualities
        for name, (table, column, ids) in measured.items()
    ]


def _measures(path: Path, measure: str | None, document: str | None, system: str | None) -> dict[str, Measured]:
    """Name -> table, column and columns of names. A file of a folder that holds one measure names it."""
    from estime_metric.meta.reading import READABLE

    asked = options.parse_names(measure)
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in READABLE) if path.is_dir() else [path]
    found: dict[str, Measured] = {}
    for file in files:
        table, ids = _read(file, document, system)
        if not path.is_dir():
            return {name: (table, name, ids) for name in asked or _numeric(table, ids, file)}
        numeric = _numeric(table, ids, file)
        for column in numeric:
            found[file.stem if len(numeric) == 1 else f"{file.stem}.{column}"] = (table, column, ids)
    unknown = [name for name in asked or () if name not in found]
    if unknown or not found:
        known = ", ".join(found) or "none"
        raise ValueError(f"Expected --measure to name measures in {path} ({known}), but got {', '.join(unknown)}.")
    return {name: found[name] for name in asked or found}


def _read(path: Path, document: str | None, system: str | None) -> tuple[DataFrame, tuple[str, str]]:
    """A table and its columns of documents and systems."""
    from estime_metric.meta import read_table

    given = [name for name in (document, system) if name is not None]
    table = read_table(path, (*DOCUMENT_COLUMNS, *SYSTEM_COLUMNS, *given))
    found = []
    for kind, name, known in (("document", document, DOCUMENT_COLUMNS), ("system", system, SYSTEM_COLUMNS)):
        name = name or next((each for each in known if each in table.columns), None)
        if name is None or name not in table.columns:
            listed = ", ".join(map(str, table.columns)) or "none"
            raise ValueError(
                f"Expected {path.name!r} to have a column of {kind}s, but its columns are {listed}: "
                f"name it with --{kind}-column."
            )
        found.append(name)
    return table, (found[0], found[1])


def _numeric(table: DataFrame, ids: tuple[str, str], path: Path) -> tuple[str, ...]:
    """The columns that hold numbers, or mostly: a stray word in a column of numbers is an error, not another column."""
    import pandas

    numbers = tuple(
        str(name)
        for name in table.columns
        if name not in ids and pandas.to_numeric(table[name], errors="coerce").notna().mean() >= 0.5
    )
    if not numbers:
        raise ValueError(f"Expected {path.name!r} to have a column of numbers, but it has none.")
    return numbers


def name_pair(text: str | None) -> tuple[str | None, str | None]:
    """``"doc,doc_id"`` as two names, ``"doc"`` as the same name twice."""
    names = options.parse_names(text)
    if names is None:
        return None, None
    if len(names) > 2:
        raise ValueError(f"Expected one or two names of columns, but got {text!r}.")
    return names[0], names[-1]
