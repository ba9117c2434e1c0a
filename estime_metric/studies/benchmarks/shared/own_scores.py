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
from estime_metric.studies.columns import DOCUMENT_COLUMNS, NOT_MEASURES, SYSTEM_COLUMNS
from estime_metric.studies.keyed import (
    by_summary,
    cell_names,
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


def own_blocks(files: Iterable[str | Path], lower: Sequence[str] = ()) -> list[Block]:
    """A block of measures for each file (CSV, JSON Lines or Parquet). The file names without their
    endings must differ. ``lower`` are columns for which lower is better, in any of the files; not
    needed for ESTIME's own columns. Raises OSError for a file that cannot be read, ImportError for
    Parquet without pyarrow, TypeError and ValueError as `own_block`, and ValueError if no file has
    scores in a column of ``lower``.
    """
    paths = [Path(file) for file in files]
    names = [path.stem for path in paths]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"Expected files of different names, but several are called {listed(twice)}."
        )
    blocks = [own_block(read_keyed(path), path.stem, lower) for path in paths]
    columns = {column.name.partition(":")[2] for block in blocks for column in block.columns}
    if unknown := [name for name in lower if name not in columns]:
        raise ValueError(
            f"Expected argument `lower` to name columns of scores, but no file has {listed(unknown)}."
        )
    return blocks


def own_block(table: pd.DataFrame, name: str, lower: Sequence[str] = ()) -> Block:
    """Scores of a table as columns of a benchmark; the block's notes name summaries without a score
    and rows of no summary.

    Args:
        table: a row per summary, as `keyed.keyed` reads it, and a column of numbers per measure,
            with NaN for a missing score. A column ``score`` is called as the file is. Columns of text
            and those in `NO_SCORES` are not measures.
        name: follows the measures' names in tables, and precedes the names of their columns.
        lower: columns for which lower is better; not needed for ESTIME's own columns (``alarms``,
            ``alarms_layer21``).

    Raises:
        TypeError: a column has both numbers and text.
        ValueError: no column of scores, a summary twice, or an infinite score.
    """
    if "score" in table and name not in table:  # as the authors of a benchmark publish theirs
        table = table.rename(columns={"score": name})
    if not (measures := numeric_columns(table, NO_SCORES)):
        raise ValueError(
            f"Expected {name!r} to have a column of scores, but its columns are {listed(table.columns)}."
        )
    rows = by_summary(table, sorted(measures), repr(name)).reset_index()
    digest = int(pd.util.hash_pandas_object(rows, index=False).sum())
    stated = list(table["signature"].unique()) if "signature" in table else []
    signature = f"{name}|{'+'.join(sorted(measures))}|{digest:x}"
    if len(stated) == 1:
        signature += f"|{stated[0]}"

    def scores_of(data: Summaries) -> pd.DataFrame:
        return by_summary(table, measures, repr(name), data.systems)

    def compute(data: Summaries) -> dict[str, Floats]:
        scores = scores_of(data)
        if not data.keys.isin(scores.index).any():
            raise ValueError(
                f"Expected {name!r} to score summaries of {data.origin}, but none of its {len(scores)} rows is one; "
                f"the first is {cell_names(scores.index[:1])}, the first summary {cell_names(data.keys[:1])}."
            )
        values = scores.reindex(data.keys)
        return {f"{name}:{column}": values[column].to_numpy() for column in measures}

    def notes(data: Summaries) -> tuple[str, ...]:
        """Which summaries lack a score, and which rows are of no summary."""
        scores = scores_of(data)
        known = data.keys.isin(scores.index)
        parts = {f"no row for {(~known).sum()} of {len(data)} summaries": data.keys[~known]}
        for column, values in scores.reindex(data.keys[known]).items():
            empty = values.index[values.isna()]
            parts[f"no value of {column} for {len(empty)} summaries"] = empty
        parts["rows of no summary, excluded"] = scores.index[~scores.index.isin(data.keys)]
        return tuple(
            f"{name}: {what}: {cell_names(keys)}." for what, keys in parts.items() if len(keys)
        )

    columns = tuple(_column(column, name, column in lower) for column in measures)
    return Block(f"Scores of {name}", columns, lambda: Prepared(signature, compute), notes=notes)


def _column(column: str, name: str, lower: bool) -> ScoreColumn:
    """A column's row in the tables: above the paper's row of that name, if it prints one."""
    lower = lower or not HIGHER_IS_BETTER.get(measure_of(column), True)
    printed = _PRINTED.get(column.lower().replace("_", "-").replace(" ", "-"))
    label = printed or f"{'(-)' if lower else ''}{column}"
    return ScoreColumn(f"{name}:{column}", f"{label} [{name}]", OWN, lower_is_better=lower)
