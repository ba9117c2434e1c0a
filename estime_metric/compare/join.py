"""Tables of scores of several systems -> for each example the row of each system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from estime_metric._messages import shortened
from estime_metric.table.intervals import source_id
from estime_metric.table.scores import Scores
from estime_metric.table.table import LINE, SOURCE_ID

NAMED = 10  # examples of a kind that are named; further ones are counted

_ADVICE = "Name another column with `id_column`."

#: A whole number as pandas writes it to CSV if it is stored as a float.
_WHOLE = re.compile(r"(?P<whole>-?(0|[1-9][0-9]*))\.0")


@dataclass(frozen=True, eq=False)
class Joined:
    """Which rows of several systems are about the same example.

    Attributes:
        rows: one row per example, in an order that does not depend on the order in the files; one column
            per system: the positions of its rows in its table.
        matched_by: the column that identified an example.
        unmatched: one sentence per source or example that is not compared; after `NAMED` of a kind,
            one sentence counts the others.
        sources: the `source_id` of each example; ``None`` if it is not known which examples share a
            source.
    """

    rows: pd.DataFrame
    matched_by: str
    unmatched: tuple[str, ...]
    sources: list[str] | None


def join_scores(
    systems: Mapping[str, pd.DataFrame],
    *,
    id_column: str | None = None,
    source_column: str = "source",
) -> Joined:
    """Joins the rows of all systems that are about one example.

    Args:
        systems: the table of each system, in any order.
        id_column: the column that identifies an example; identifiers are compared as text, see
            `id_of`. Without it, an example is identified by its source and by the position of the
            summary among the summaries of that source; a source is not compared if the systems have
            different numbers of summaries of it.
        source_column: the column of the sources, see `source_ids`.

    Raises:
        ValueError: a column is missing or has an empty cell, an identifier occurs twice or has
            different sources, or the systems have no example in common.
    """
    sources = {name: source_ids(table, source_column) for name, table in systems.items()}
    unmatched: list[str] = []
    if id_column is None:
        keys = {name: _known(ids, name, systems[name]) for name, ids in sources.items()}
    else:
        keys = {name: _ids_of_examples(table, name, id_column) for name, table in systems.items()}
        for name, ids in sources.items():
            if ids is not None:
                lacking = ids.index[ids == ""]
                problems = [f"{name}: line {line} has no source" for line in lacking]
                unmatched += _counted(problems[:NAMED], lacking, f"rows of {name} have no source")
                keys[name] = keys[name].where(ids != "")
    counts = pd.DataFrame({name: ids.value_counts() for name, ids in keys.items()}).sort_index()
    counts = counts.fillna(0).astype(int)
    is_compared = counts.eq(counts.iloc[:, 0], axis=0).all(axis=1)
    texts: dict[str, str] = {}  # of the keys
    for name, table in systems.items():
        if (column := id_column or source_column) in table:
            texts |= dict(zip(keys[name], table[column].map(id_of), strict=True))
    unmatched += _unmatched(counts[~is_compared], keys, texts)
    matched_by = id_column or "source"
    common = counts.index[is_compared]
    if not len(common):
        raise ValueError(
            f"Expected {' and '.join(systems)} to have examples in common, but by column "
            f"{matched_by!r} they have none: {unmatched[0]}. {_advice(systems)}"
        )
    positions = {
        name: pd.Series(range(len(ids)), [ids, ids.groupby(ids).cumcount()])[ids.isin(common).array]
        for name, ids in keys.items()
    }
    rows = pd.concat(positions, axis=1, join="inner").sort_index()
    known = {name: ids.iloc[rows[name]].array for name, ids in sources.items() if ids is not None}
    return Joined(
        rows,
        matched_by,
        tuple(unmatched),
        _common_sources(pd.DataFrame(known, rows.index), matched_by),
    )


def source_ids(table: pd.DataFrame, source_column: str = "source") -> pd.Series | None:
    """The `source_id` of each row, empty if it has no source: of a table with scores from the column
    ``source_id``, which they have; of another from the column of the sources, or, without it, from a column
    ``source_id`` of the user's. The series has the name of the column. ``None`` if no row has a source.
    """
    columns = [source_column, SOURCE_ID]
    for column in reversed(columns) if Scores.of(table).is_scored else columns:
        if column in table and (cells := table[column].map(id_of).astype(str)).ne("").any():
            are_ids = cells.str.fullmatch(r"([0-9a-f]{16})?").all()
            return cells if are_ids else cells.map(lambda cell: cell and source_id(cell))
    return None


def name_of(cell: Any) -> str:
    """A cell as text; empty if it is ``None`` or NaN.

    A float without a fraction is written as an integer, because pandas stores integers as floats if
    their column has a gap.

    Example:
        >>> name_of(7), name_of(7.0), name_of(7.5), name_of("7.0"), name_of(None)
        ('7', '7', '7.5', '7.0', '')
    """
    if isinstance(cell, (float, np.floating)):
        if np.isnan(cell):
            return ""
        return str(int(cell)) if cell.is_integer() else str(cell)
    return "" if cell is None else str(cell)


def id_of(cell: Any) -> str:
    """As `name_of`; text such as ``"7.0"``, which is what pandas writes to CSV for such a float, is
    written as an integer too. This is for identifiers alone: the name of a system can be ``"2.0"``.

    Example:
        >>> id_of("7.0"), id_of("7.50"), id_of("007"), id_of("v7.0")
        ('7', '7.50', '007', 'v7.0')
    """
    text = name_of(cell)
    whole_number = _WHOLE.fullmatch(text)
    return text if whole_number is None else whole_number["whole"]


def check_column(table: pd.DataFrame, column: str, name: str, advice: str = "") -> None:
    """Raises ValueError if a table lacks a column; the message names the table, lists its columns and
    ends with ``advice``.
    """
    if column not in table:
        raise ValueError(
            f"Expected a column {column!r} in {name}, but its columns are "
            f"{', '.join(map(str, table.columns)) or 'none'}. {advice}".rstrip()
        )


def check_filled(cells: pd.Series, name: str, advice: str = "") -> None:
    """Raises ValueError if a cell of a column of texts is empty; the message names its line and the
    table, and ends with ``advice``.
    """
    for line in cells.index[cells == ""]:
        raise ValueError(
            f"Expected a value in column {cells.name!r} in each row of {name}, but line {line} has "
            f"none. {advice}".rstrip()
        )


def _advice(systems: Mapping[str, pd.DataFrame]) -> str:
    """What to do if a column does not identify examples."""
    for name, table in systems.items():
        if table.drop(columns=LINE, errors="ignore").astype(str).duplicated(keep=False).all():
            return f"Each row of {name} is there more than once. Remove the copies."
    return _ADVICE


def _common_sources(known: pd.DataFrame, matched_by: str) -> list[str] | None:
    """The `source_id` of each example, ``None`` if no system has it. ValueError if two systems have
    different sources.
    """
    if known.empty:
        return None
    differs = known.ne(known.iloc[:, 0], axis=0).any(axis=1)
    for example, _ in known.index[differs]:
        raise ValueError(
            f"Expected {' and '.join(known)} to have the same source in each example, but their sources "
            f"of {shortened(example)!r} in column {matched_by!r} differ. {_ADVICE}"
        )
    ids: list[str] = known.iloc[:, 0].tolist()
    return ids


def _known(ids: pd.Series | None, name: str, table: pd.DataFrame) -> pd.Series:
    if ids is None:
        raise ValueError(
            f"Expected each row of {name} to have the column {SOURCE_ID!r}, which 'estime score' "
            f"writes, or a source, but the columns are {', '.join(map(str, table.columns))}. Name the "
            "column of the sources with `source_column`, or the column that identifies the examples "
            "with `id_column`."
        )
    check_filled(ids, name, "Name a column that identifies the examples with `id_column`.")
    return ids


def _ids_of_examples(table: pd.DataFrame, name: str, column: str) -> pd.Series:
    """The cells of a column, each of which identifies a row."""
    check_column(table, column, name, _ADVICE)
    ids = table[column].map(id_of)
    check_filled(ids, name)
    for cell in ids[ids.duplicated()]:
        raise ValueError(
            f"Expected column {column!r} to identify the rows of {name}, but the value "
            f"{shortened(cell)!r} occurs twice. {_advice({name: table})}"
        )
    return ids


def _unmatched(
    counts: pd.DataFrame, keys: Mapping[str, pd.Series], texts: Mapping[str, str]
) -> list[str]:
    """A sentence for each source with different numbers of summaries, then for each source or example that a
    system lacks, first for those of which it has another text that looks the same. It names the first system
    that has the example.

    Args:
        counts: how many rows each system has of them.
        keys: the key of each row of each system.
        texts: what the keys stand for, as far as it is known.
    """
    is_lacking = (counts == 0).any(axis=1)
    uneven, lacking = counts[~is_lacking], counts[is_lacking]
    looks = {
        key: " ".join(unicodedata.normalize("NFC", texts.get(key, key)).split())
        for key in lacking.index
    }
    of_look = lacking.groupby(looks).transform("sum")
    is_alike = ((lacking == 0) & (of_look > 0)).any(axis=1)
    lacking = lacking.loc[is_alike.sort_values(ascending=False, kind="stable").index]
    sentences = []
    for rows, what in (
        (uneven, "sources have different numbers"),
        (lacking, "have no matching row in every system"),
    ):
        problems = []
        for key, row in rows[:NAMED].iterrows():
            owner, without = row.index[row > 0][0], row.index[row == 0]
            label = f"line {keys[owner].index[keys[owner] == key][0]}"
            if texts.get(key):
                label = repr(shortened(texts[key]))
            if without.empty:
                numbers = ", ".join(f"{name} {number}" for name, number in row.items())
                problem = f"has different numbers of summaries: {numbers}"
            else:
                problem = f"has no matching row in {', '.join(without)}"
                if is_alike[key]:
                    problem += "; a text there differs only in white space or Unicode normalization (NFC or NFD)"
            problems.append(f"{owner}: {label} {problem}")
        sentences += _counted(problems, rows, what)
    return sentences


def _counted(problems: list[str], counts: Sized, what: str) -> list[str]:
    """The sentences, and one that counts those of the examples that are not named."""
    more = len(counts) - len(problems)
    return [*problems, f"{more} more {what}"] if more else problems
