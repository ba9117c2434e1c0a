"""Scores that were computed elsewhere, beside ours: a table with a row for each summary and a column for each measure.

The format is what ``estime score -o`` writes where the input has columns that name document and system. Rows may stand
in any order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from estime_metric.files import read_meta
from estime_metric.measures import HIGHER_IS_BETTER
from estime_metric.meta.checks import Floats, listed
from estime_metric.meta.reading import read_table
from estime_metric.studies.shared import estime_paper
from estime_metric.studies.shared.scoring import OWN, Block, Measure, Prepared, Summaries

#: Names of the columns of documents and of systems; the first that a table has is taken.
DOCUMENT, SYSTEM = ("document", "doc_id", "hash", "pair"), ("system", "model_name", "n_errors")

#: Columns that hold no score: what ``estime score`` writes beside its measures, and human judgements.
NO_SCORES = frozenset(
    {
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
        "n_errors",
        "n_missing",
    }
    | set(estime_paper.QUALITIES)
)

#: Rows of the paper by their names in lower case: a column of that name stands above that row.
_PRINTED = {
    label.removeprefix("(-)").lower(): label for label in (*estime_paper.REFERENCE_FREE, *estime_paper.REFERENCE_BASED)
}


def own_blocks(files: Iterable[str | Path], lower: Iterable[str] = ()) -> list[Block]:
    """A block of measures for each file; see `own_block`.

    Args:
        files: CSV, JSON Lines or Parquet. Their names, without the ending, have to differ.
        lower: columns of which less is better, in any of the files. Those of ESTIME are known.

    Raises:
        OSError: a file cannot be read.
        ImportError: Parquet without pyarrow.
        TypeError, ValueError: as `own_block`; two files of one name; or no file has a column of ``lower``.
    """
    paths, lower = [Path(file) for file in files], list(lower)
    names = [path.stem for path in paths]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"Expected files of different names, but several are called {listed(twice)}.")
    tables = {path.stem: _read(path) for path in paths}
    unknown = [name for name in lower if not any(name in table.columns for table in tables.values())]
    if unknown:
        raise ValueError(f"Expected argument `lower` to name columns of the files, but none has {listed(unknown)}.")
    return [own_block(table, name, [one for one in lower if one in table.columns]) for name, table in tables.items()]


def own_block(table: pd.DataFrame, name: str = "own", lower: Sequence[str] = ()) -> Block:
    """Scores of a table as measures of a benchmark.

    Args:
        table: a row for each summary: its document (`DOCUMENT`), its system (`SYSTEM`) and a column of numbers for each
            measure. Columns of text and those in `NO_SCORES` are no measures. An empty cell is a missing score.
        name: follows the measures' names in tables, and before the names of their columns.
        lower: columns of which less is better; those of ESTIME (``alarms``, ``alarms@21``) are known.

    Returns:
        The block. A summary without a score is NaN there, and the block's notes name it, as well as rows of the table
        that belong to no summary.

    Raises:
        TypeError: a column holds both numbers and text.
        ValueError: there is no column of documents, of systems or of scores, a summary stands twice, a score is
            infinite, or ``lower`` names no column of scores.
    """
    keys = _keys(table, name)
    columns = {str(column): _numbers(table[column], name) for column in table.columns if _is_score(str(column))}
    scores = {column: values for column, values in columns.items() if values is not None}
    if not scores:
        raise ValueError(f"Expected {name!r} to have a column of scores, but its columns are {listed(table.columns)}.")
    unknown = [column for column in lower if column not in scores]
    if unknown:
        raise ValueError(f"Expected argument `lower` to name columns of scores in {name!r}, but got {listed(unknown)}.")
    measures = {column: _measure(column, name, column in lower) for column in scores}
    rows = {key: row for row, key in enumerate(keys)}

    def compute(data: Summaries, _: object) -> dict[str, Floats]:
        taken = [rows.get(key, -1) for key in data.keys]
        if max(taken) < 0:
            raise ValueError(
                f"Expected {name!r} to score summaries of {data.origin}, but none of its {len(rows)} rows is one; "
                f"the first is {keys[0]}, the first summary {data.keys[0]}."
            )
        return {
            measures[column].column: np.array([values[row] if row >= 0 else np.nan for row in taken])
            for column, values in scores.items()
        }

    return Block(
        f"Scores of {name}",
        tuple(measures.values()),
        lambda: Prepared(
            _signature(table, name, keys, scores), compute, notes=lambda data: _notes(data, rows, scores, name)
        ),
    )


def _read(path: Path) -> pd.DataFrame:
    """A table, with the signature that is stated beside it as a column."""
    table = read_table(path, (*DOCUMENT, *SYSTEM))
    beside = {"signature": read_meta(path).get("signature")} if "signature" not in table.columns else {}
    return table.assign(**beside) if all(beside.values()) else table


def _keys(table: pd.DataFrame, name: str) -> list[tuple[str, str]]:
    """Document and system of each row."""
    found = []
    for kind, choices in (("documents", DOCUMENT), ("systems", SYSTEM)):
        column = next((one for one in choices if one in table.columns), None)
        if column is None:
            raise ValueError(
                f"Expected {name!r} to have a column of {kind} ({', '.join(choices)}), but its columns are "
                f"{listed(table.columns)}."
            )
        cells = table[column]
        if column == "n_errors" and "n_missing" in table.columns:
            cells = cells + table["n_missing"]  # the errors that were asked for
        found.append([str(cell) for cell in cells])
    keys = list(zip(*found, strict=True))
    if not keys:
        raise ValueError(f"Expected {name!r} to have rows, but it has none.")
    twice = list(dict.fromkeys(key for key, again in zip(keys, pd.Series(keys).duplicated(), strict=True) if again))
    if twice:
        raise ValueError(f"Expected {name!r} to hold each summary once, but twice came {listed(twice)}.")
    return keys


def _is_score(column: str) -> bool:
    return column not in {*DOCUMENT, *SYSTEM, *NO_SCORES, ""} and not column.startswith("Unnamed:")


def _numbers(cells: pd.Series, name: str) -> Floats | None:
    """A column as numbers, ``None`` where it holds text or nothing."""
    values = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)
    unread = cells[np.isnan(values) & cells.notna().to_numpy()]
    if np.isnan(values).all():
        return None
    if len(unread):
        raise TypeError(f"Expected column {cells.name!r} of {name!r} to hold numbers, but got {unread.iloc[0]!r}.")
    if np.isinf(values).any():
        raise ValueError(f"Expected column {cells.name!r} of {name!r} to be finite, but it holds an infinity.")
    return np.asarray(values)


def _measure(column: str, name: str, lower: bool) -> Measure:
    """A column's row in the tables: where the paper prints a row of that name, above that row."""
    lower = lower or not HIGHER_IS_BETTER.get(column.partition("@")[0], True)
    printed = _PRINTED.get(column.lower().replace("_", "-").replace(" ", "-"))
    label = printed or f"{'(-)' if lower else ''}{column}"
    return Measure(f"{name}:{column}", f"{label} [{name}]", OWN, lower_is_better=lower)


def _signature(table: pd.DataFrame, name: str, keys: Sequence[tuple[str, str]], scores: Mapping[str, Floats]) -> str:
    """The signature that the table states in each row, or a hash of its scores."""
    content = repr([*sorted(zip(keys, *(values.tolist() for values in scores.values()), strict=True)), *scores])
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    stated = list(dict.fromkeys(table["signature"])) if "signature" in table.columns else []
    return f"{name}|sha256:{digest}" + (f"|{stated[0]}" if len(stated) == 1 else "")


def _notes(
    data: Summaries, rows: Mapping[tuple[str, str], int], scores: Mapping[str, Floats], name: str
) -> tuple[str, ...]:
    """Which summaries lack a score, and which rows are of no summary."""
    notes, keys = [], data.keys
    missing = [f"({document}, {system})" for document, system in keys if (document, system) not in rows]
    if missing:
        notes.append(f"{name}: no row for {len(missing)} of {len(keys)} summaries: {listed(missing)}.")
    for column, values in scores.items():
        empty = [f"({key[0]}, {key[1]})" for key in keys if key in rows and np.isnan(values[rows[key]])]
        if empty:
            notes.append(f"{name}: no value of {column} for {len(empty)} summaries: {listed(empty)}.")
    known, documents, systems = set(keys), set(data.documents), set(data.systems)
    strange = [key for key in rows if key not in known]
    for kind, names in (
        ("documents", [document for document, _ in strange if document not in documents]),
        ("systems", [system for _, system in strange if system not in systems]),
    ):
        if names:
            notes.append(f"{name}: unknown {kind}, left out: {listed(list(dict.fromkeys(names)))}.")
    rest = [f"({key[0]}, {key[1]})" for key in strange if key[0] in documents and key[1] in systems]
    if rest:
        notes.append(f"{name}: rows of no summary, left out: {listed(rest)}.")
    return tuple(notes)
