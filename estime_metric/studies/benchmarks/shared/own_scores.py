"""Scores that were computed elsewhere as blocks of a benchmark: a table with a row per summary in any
order and a column per measure, as ``estime score -o`` writes them if the input names document and
system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from estime_metric.measures import HIGHER_IS_BETTER, measure_of
from estime_metric.studies.benchmarks.shared import estime_paper
from estime_metric.studies.benchmarks.shared.blocks import OWN, Block, Prepared, ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.columns import DOCUMENT_COLUMNS, KEY, NOT_MEASURES, SYSTEM_COLUMNS
from estime_metric.studies.keyed import (
    by_summary,
    cell_names,
    keyed,
    known_systems,
    listed,
    numeric_columns,
    read_keyed,
)
from estime_metric.table.arrays import Floats

#: Columns without scores: names, what ``estime score`` writes in addition to measures of quality, and
#: human judgements.
NO_SCORES = {
    *NOT_MEASURES,
    *DOCUMENT_COLUMNS,
    *SYSTEM_COLUMNS,
    *estime_paper.QUALITIES,
    "",
    "signature",
    "dataset",
    "split",
    "factuality",
    "label",
    "n_missing",
}

#: Rows of the paper by their names in lower case: a column of that name is shown above that row.
_PRINTED = {label.removeprefix("(-)").lower(): label for label in estime_paper.CORRELATIONS.index}


def own_blocks(files: Iterable[str | Path], lower: Iterable[str] = ()) -> list[Block]:
    """A block of measures for each file (CSV, JSON Lines or Parquet). The file names without their
    endings must differ. ``lower`` are columns for which lower is better, in any of the files; not
    needed for ESTIME's own columns. Raises OSError for a file that cannot be read, ImportError for
    Parquet without pyarrow, TypeError and ValueError as `own_block`, and ValueError if no file has
    a column of ``lower``.
    """
    paths, lower = [Path(file) for file in files], list(lower)
    names = [path.stem for path in paths]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"Expected files of different names, but several are called {listed(twice)}."
        )
    tables = {path.stem: read_keyed(path) for path in paths}
    if unknown := [name for name in lower if not any(name in table for table in tables.values())]:
        raise ValueError(
            f"Expected argument `lower` to name columns of the files, but none has {listed(unknown)}."
        )
    return [
        own_block(table, name, [column for column in lower if column in table])
        for name, table in tables.items()
    ]


def own_block(table: pd.DataFrame, name: str = "own", lower: Sequence[str] = ()) -> Block:
    """Scores of a table as columns of a benchmark; the block's notes name summaries without a score
    and rows of no summary.

    Args:
        table: a row per summary, as `keyed.keyed` reads it, and a column of numbers per measure,
            with NaN for a missing score. A column ``score`` is called as the file is. Columns of text and those in
            `NO_SCORES` are not measures.
        name: follows the measures' names in tables, and precedes the names of their columns.
        lower: columns for which lower is better; not needed for ESTIME's own columns (``alarms``,
            ``alarms_layer21``).

    Raises:
        TypeError: a column has both numbers and text.
        ValueError: no column of documents, systems or scores, a summary twice, an infinite score,
            or an unknown ``lower``.
    """
    table = keyed(table, name)
    if "score" in table and name not in table:  # as the authors of a benchmark publish theirs
        table = table.rename(columns={"score": name})
    measures = [
        column
        for column in numeric_columns(table, NO_SCORES)
        if not column.startswith("Unnamed:")  # an index that pandas has written
    ]
    if not measures:
        raise ValueError(
            f"Expected {name!r} to have a column of scores, but its columns are {listed(table.columns)}."
        )
    if unknown := [column for column in lower if column not in measures]:
        raise ValueError(
            f"Expected argument `lower` to name columns of scores in {name!r}, but got {listed(unknown)}."
        )
    scores = by_summary(table, measures, repr(name)).reset_index()
    columns = {column: _column(column, name, column in lower) for column in measures}
    rows = pd.util.hash_pandas_object(scores[[*KEY, *sorted(measures)]], index=False)
    stated = list(table["signature"].unique()) if "signature" in table else []
    signature = f"{name}|{'+'.join(sorted(measures))}|{int(rows.sum()):x}"
    if len(stated) == 1:
        signature += f"|{stated[0]}"

    def compute(data: Summaries, _: object) -> dict[str, Floats]:
        joined = _joined(data, scores)
        if (joined["row"] == "left_only").all():
            raise ValueError(
                f"Expected {name!r} to score summaries of {data.origin}, but none of its {len(scores)} rows is one; "
                f"the first is {cell_names(scores[KEY][:1])}, the first summary {cell_names(data.table[KEY][:1])}."
            )
        return {column.name: joined[header].to_numpy() for header, column in columns.items()}

    def notes(data: Summaries) -> tuple[str, ...]:
        """Which summaries lack a score, and which rows are of no summary."""
        joined = _joined(data, scores)
        lacking = joined["row"].eq("left_only")
        parts = {f"no row for {lacking.sum()} of {len(data)} summaries": joined.loc[lacking]}
        for column in measures:
            empty = joined.loc[~lacking & joined[column].isna()]
            parts[f"no value of {column} for {len(empty)} summaries"] = empty
        named = scores.assign(system=known_systems(scores["system"], data.systems))
        strange = named[~pd.MultiIndex.from_frame(named[KEY]).isin(data.keys)]
        parts["rows of no summary, excluded"] = strange
        return tuple(
            f"{name}: {what}: {cell_names(some[KEY])}." for what, some in parts.items() if len(some)
        )

    block_columns = tuple(columns.values())
    return Block(
        f"Scores of {name}", block_columns, lambda: Prepared(signature, compute), notes=notes
    )


def _joined(data: Summaries, scores: pd.DataFrame) -> pd.DataFrame:
    """The scores of each summary of the data; ``row`` says which have none (``left_only``)."""
    named = scores.assign(system=known_systems(scores["system"], data.systems))
    return data.table[KEY].merge(named, how="left", on=KEY, indicator="row")


def _column(column: str, name: str, lower: bool) -> ScoreColumn:
    """A column's row in the tables: above the paper's row of that name, if it prints one."""
    lower = lower or not HIGHER_IS_BETTER.get(measure_of(column), True)
    printed = _PRINTED.get(column.lower().replace("_", "-").replace(" ", "-"))
    label = printed or f"{'(-)' if lower else ''}{column}"
    return ScoreColumn(f"{name}:{column}", f"{label} [{name}]", OWN, lower_is_better=lower)
