"""Scores that were computed elsewhere as blocks of a benchmark: a table with a row per summary in any
order and a column per measure, as ``estime score -o`` writes them if the input names document and
system.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from estime_metric.comparison.keys import id_of
from estime_metric.comparison.reading import read_table
from estime_metric.files import read_meta
from estime_metric.measures import HIGHER_IS_BETTER, measure_of
from estime_metric.stats.checks import Floats, listed
from estime_metric.studies.benchmarks.shared import estime_paper
from estime_metric.studies.benchmarks.shared.blocks import OWN, Block, Prepared, ScoreColumn
from estime_metric.studies.benchmarks.shared.data import KEY, Summaries
from estime_metric.studies.meta.grid import as_numbers, cell_names

#: Names of the columns that identify a summary, by the part of its key: the first name that a table
#: has is used. Subtle errors use ``pair`` and ``n_errors``, BUMP ``pair`` and ``version``,
#: SummEdits ``domain`` and ``id``.
DOCUMENT = ("document", "doc_id", "hash", "pair", "domain")
SYSTEM = ("system", "model_name", "n_errors", "version", "id")
#: Columns without scores: names, what ``estime score`` writes in addition to its measures, and human
#: judgements.
NO_SCORES = {
    *DOCUMENT,
    *SYSTEM,
    *estime_paper.QUALITIES,
    "",
    "line",
    "flag",
    "tokens",
    "overlap",
    "blank",
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
    tables = {path.stem: _read(path) for path in paths}
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
        table: a row per summary: its document (`DOCUMENT`), its system (`SYSTEM`) and a column of
            numbers per measure, with NaN for a missing score. Columns of text and those in
            `NO_SCORES` are not measures.
        name: follows the measures' names in tables, and precedes the names of their columns.
        lower: columns for which lower is better; not needed for ESTIME's own columns (``alarms``,
            ``alarms_layer21``).

    Raises:
        TypeError: a column has both numbers and text.
        ValueError: no column of documents, systems or scores, a summary twice, an infinite score,
            or an unknown ``lower``.
    """
    scores = _scores(table, name)
    if unknown := [column for column in lower if column not in scores]:
        raise ValueError(
            f"Expected argument `lower` to name columns of scores in {name!r}, but got {listed(unknown)}."
        )
    columns = {column: _column(column, name, column in lower) for column in scores}

    def compute(data: Summaries, _: object) -> dict[str, Floats]:
        if not scores.index.isin(data.keys).any():
            raise ValueError(
                f"Expected {name!r} to score summaries of {data.origin}, but none of its {len(scores)} rows is one; "
                f"the first is {scores.index[0]}, the first summary {data.keys[0]}."
            )
        of_data = scores.reindex(pd.MultiIndex.from_frame(data.table[KEY]))
        return {column.name: of_data[header].to_numpy() for header, column in columns.items()}

    return Block(
        f"Scores of {name}",
        tuple(columns.values()),
        lambda: Prepared(_signature(table, scores, name), compute),
        notes=lambda data: tuple(_notes(data, scores, name)),
    )


def _scores(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The columns of numbers, by the key of each summary; columns of text or of nothing are not."""
    cells = table.set_axis(_keys(table, name)).rename(columns=str)
    numbers = {
        column: as_numbers(cells[column], f"column {column!r} of {name!r}")
        for column in cells
        if column not in NO_SCORES
        and not column.startswith("Unnamed:")
        and pd.to_numeric(cells[column], errors="coerce").notna().any()
    }
    if not numbers:
        raise ValueError(
            f"Expected {name!r} to have a column of scores, but its columns are {listed(table.columns)}."
        )
    return pd.DataFrame(numbers)


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


def _read(path: Path) -> pd.DataFrame:
    """A table, with the signature that is stated next to it as a column."""
    table = read_table(path, (*DOCUMENT, *SYSTEM))
    stated = None if "signature" in table else read_meta(path).get("signature")
    return table.assign(signature=stated) if stated else table


def _keys(table: pd.DataFrame, name: str) -> pd.MultiIndex:
    systems = _names(table, "systems", SYSTEM, name)
    if systems.name == "n_errors" and "n_missing" in table:
        systems = systems + table["n_missing"]  # the errors that were requested
    documents = _names(table, "documents", DOCUMENT, name)
    keys = pd.MultiIndex.from_arrays(
        [[id_of(cell) for cell in part] for part in (documents, systems)]
    )
    if not len(keys):
        raise ValueError(f"Expected {name!r} to have rows, but it has none.")
    if len(twice := keys[keys.duplicated()].unique()):
        raise ValueError(
            f"Expected {name!r} to have each summary once, but these occur twice: {listed(twice)}."
        )
    return keys


def _names(table: pd.DataFrame, kind: str, choices: Sequence[str], name: str) -> pd.Series:
    """The first column of ``choices`` that the table has."""
    column = next((name_of for name_of in choices if name_of in table), None)
    if column is None:
        raise ValueError(
            f"Expected {name!r} to have a column of {kind} ({', '.join(choices)}), but its columns are "
            f"{listed(table.columns)}."
        )
    return table[column]


def _column(column: str, name: str, lower: bool) -> ScoreColumn:
    """A column's row in the tables: above the paper's row of that name, if it prints one."""
    lower = lower or not HIGHER_IS_BETTER.get(measure_of(column), True)
    printed = _PRINTED.get(column.lower().replace("_", "-").replace(" ", "-"))
    label = printed or f"{'(-)' if lower else ''}{column}"
    return ScoreColumn(f"{name}:{column}", f"{label} [{name}]", OWN, lower_is_better=lower)


def _notes(data: Summaries, scores: pd.DataFrame, name: str) -> Iterator[str]:
    """Which summaries lack a score, and which rows are of no summary."""
    keys = pd.MultiIndex.from_frame(data.table[KEY])
    there = keys.isin(scores.index)
    if not there.all():
        yield f"{name}: no row for {(~there).sum()} of {len(keys)} summaries: {cell_names(keys[~there])}."
    of_data = scores.reindex(keys[there])
    for column in scores:
        if len(empty := of_data.index[of_data[column].isna()]):
            yield f"{name}: no value of {column} for {len(empty)} summaries: {cell_names(empty)}."
    if len(strange := scores.index[~scores.index.isin(keys)]):
        yield f"{name}: rows of no summary, excluded: {cell_names(strange)}."
