"""Scores that were computed elsewhere as blocks of a benchmark: a table with a row per summary in any
order and a column per measure, as ``estime score -o`` writes them if the input names document and
system.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from estime_metric.measures import HIGHER_IS_BETTER, measure_of
from estime_metric.studies.benchmarks.shared import estime_paper
from estime_metric.studies.benchmarks.shared.blocks import OWN, Block, Prepared, ScoreColumn
from estime_metric.studies.benchmarks.shared.data import KEY, Summaries
from estime_metric.studies.columns import DOCUMENT_COLUMNS, NOT_MEASURES, SYSTEM_COLUMNS
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
    scores = by_summary(table, measures, repr(name))
    if unknown := [column for column in lower if column not in scores]:
        raise ValueError(
            f"Expected argument `lower` to name columns of scores in {name!r}, but got {listed(unknown)}."
        )
    columns = {column: _column(column, name, column in lower) for column in scores}

    def compute(data: Summaries, _: object) -> dict[str, Floats]:
        keyed_scores = _named_as(scores, data)
        if not keyed_scores.index.isin(data.keys).any():
            raise ValueError(
                f"Expected {name!r} to score summaries of {data.origin}, but none of its {len(scores)} rows is one; "
                f"the first is {scores.index[0]}, the first summary {data.keys[0]}."
            )
        in_order = keyed_scores.reindex(pd.MultiIndex.from_frame(data.table[KEY]))
        return {column.name: in_order[header].to_numpy() for header, column in columns.items()}

    return Block(
        f"Scores of {name}",
        tuple(columns.values()),
        lambda: Prepared(_signature(table, scores, name), compute),
        notes=lambda data: tuple(_notes(data, scores, name)),
    )


def _signature(table: pd.DataFrame, scores: pd.DataFrame, name: str) -> str:
    """The name, a hash of keys and scores that does not depend on the order of the rows, and the
    one signature that the table states, if there is one.
    """
    rows = sorted(scores.itertuples(name=None))
    content = repr([*rows, *scores])
    parts = [name, f"sha256:{hashlib.sha256(content.encode()).hexdigest()[:12]}"]
    stated = list(dict.fromkeys(table["signature"])) if "signature" in table else []
    if len(stated) == 1:
        parts.append(str(stated[0]))
    return "|".join(parts)


def _named_as(scores: pd.DataFrame, data: Summaries) -> pd.DataFrame:
    """The scores, with the systems called as in the data."""
    keys = scores.index.to_frame(index=False)
    systems = known_systems(keys["system"], data.systems)
    return scores.set_axis(pd.MultiIndex.from_frame(keys.assign(system=systems)))


def _column(column: str, name: str, lower: bool) -> ScoreColumn:
    """A column's row in the tables: above the paper's row of that name, if it prints one."""
    lower = lower or not HIGHER_IS_BETTER.get(measure_of(column), True)
    printed = _PRINTED.get(column.lower().replace("_", "-").replace(" ", "-"))
    label = printed or f"{'(-)' if lower else ''}{column}"
    return ScoreColumn(f"{name}:{column}", f"{label} [{name}]", OWN, lower_is_better=lower)


def _notes(data: Summaries, scores: pd.DataFrame, name: str) -> Iterator[str]:
    """Which summaries lack a score, and which rows are of no summary."""
    scores = _named_as(scores, data)
    keys = pd.MultiIndex.from_frame(data.table[KEY])
    there = keys.isin(scores.index)
    if not there.all():
        yield f"{name}: no row for {(~there).sum()} of {len(keys)} summaries: {cell_names(keys[~there])}."
    scored = scores.reindex(keys[there])
    for column in scores:
        if len(empty := scored.index[scored[column].isna()]):
            yield f"{name}: no value of {column} for {len(empty)} summaries: {cell_names(empty)}."
    if len(strange := scores.index[~scores.index.isin(keys)]):
        yield f"{name}: rows of no summary, excluded: {cell_names(strange)}."
