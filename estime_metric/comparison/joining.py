"""Scores of several systems -> for each example the row of each system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from estime_metric import files
from estime_metric._wording import shortened
from estime_metric.comparison.keys import id_of
from estime_metric.comparison.reading import check_column, check_filled
from estime_metric.stats.bootstrap import source_id

NAMED = 10  # examples of a kind that are named; further ones are counted


@dataclass(frozen=True, eq=False)
class Joined:
    """Scores of several systems, example by example.

    Attributes:
        tables: system -> its rows, one for each of the n examples, in the same order for each
            system, which does not depend on the order in the files.
        matched_by: the column that identified an example.
        unmatched: one sentence per example that is not compared, beyond `NAMED` of a kind counted.
        sources: the `source_id` of each example; ``None`` if it is not known which examples share a
            source.
    """

    tables: Mapping[str, pd.DataFrame]
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
        systems: the scores of each system, with different labels in their index, in any order.
        id_column: the column that identifies an example; identifiers are compared as text, see
            `keys.id_of`. Without it, an example is a source and the number of the summary among
            those of the source; sources with different numbers of summaries are not compared.
        source_column: the column of the sources if there is no column ``source_id``.

    Raises:
        ValueError: a column is missing or has an empty cell, an identifier occurs twice, or the
            systems have no example in common.
    """
    unmatched: list[str] = []
    labels: dict[str, str] = {}  # source_id -> what a source is called in a message
    if id_column is None:
        ids = {name: _ids_of(table, name, source_column) for name, table in systems.items()}
        counts = pd.DataFrame({name: of_system.value_counts() for name, of_system in ids.items()})
        uneven = counts[counts.nunique(axis=1) > 1]
        keyed = {
            name: table.set_index(_numbered(ids[name]))[~ids[name].isin(uneven.index).to_numpy()]
            for name, table in systems.items()
        }
        for name, table in systems.items():
            labels |= dict(zip(ids[name], table.get(source_column, ids[name]), strict=True))
        unmatched += _uneven(uneven.rename(index=labels))
    else:
        keyed = {name: _by_id(table, name, id_column) for name, table in systems.items()}
    lacking = pd.DataFrame({name: pd.Series(False, table.index) for name, table in keyed.items()})
    lacking = lacking.isna().sort_index()
    has_partners = ~lacking.any(axis=1)
    matched_by = id_column or "source"
    if not has_partners.any():
        raise ValueError(
            f"Expected {' and '.join(systems)} to have examples in common, but by column "
            f"{matched_by!r} they have none. Name another column with `id_column`."
        )
    without = lacking[~has_partners]
    if id_column is None:
        without = without.rename(index=lambda key: labels[key.split()[0]])
    unmatched += _unmatched(without)
    tables = {name: table.loc[lacking.index[has_partners]] for name, table in keyed.items()}
    known = (source_ids(table, source_column) for table in tables.values())
    sources = next((of_system.tolist() for of_system in known if of_system is not None), None)
    return Joined(tables, matched_by, tuple(unmatched), sources)


def source_ids(table: pd.DataFrame, source_column: str = "source") -> pd.Series | None:
    """The `source_id` of each row, from the column ``source_id``, otherwise from the column of the
    sources; ``None`` if a row has neither.
    """
    for column in (files.SOURCE_ID, source_column):
        if column in table and not (cells := table[column].map(id_of)).eq("").any():
            are_ids = cells.str.fullmatch(r"[0-9a-f]{16}").all()
            return cells if are_ids else cells.map(source_id)
    return None


def _ids_of(table: pd.DataFrame, name: str, source_column: str) -> pd.Series:
    ids = source_ids(table, source_column)
    if ids is None:
        raise ValueError(
            f"Expected each row of {name} to have the column {files.SOURCE_ID!r}, which 'estime score' "
            f"writes, or {source_column!r}, but the columns are {', '.join(table.columns)}. Name the "
            "column that identifies the examples with `id_column`."
        )
    return ids


def _numbered(ids: pd.Series) -> pd.Index:
    """What identifies each example: its source, and its number among the examples of the source."""
    return pd.Index(ids + " " + ids.groupby(ids).cumcount().map("{:06}".format))


def _by_id(table: pd.DataFrame, name: str, column: str) -> pd.DataFrame:
    """The rows of a system by the cells of a column."""
    check_column(table, column, name, "Name another column with `id_column`.")
    ids = table[column].map(id_of)
    check_filled(ids, name)
    for cell in ids[ids.duplicated()]:
        raise ValueError(
            f"Expected column {column!r} to identify the rows of {name}, but the value "
            f"{shortened(cell)!r} occurs twice. Name another column with `id_column`."
        )
    return table.set_index(pd.Index(ids))


def _uneven(counts: pd.DataFrame) -> list[str]:
    """A sentence for each source with different numbers of summaries."""
    problems = [
        f"{shortened(str(source))!r} has different numbers of summaries: "
        + ", ".join(f"{name} {number:.0f}" for name, number in row.dropna().items())
        + ". Name the column that identifies the examples with `id_column`"
        for source, row in counts[:NAMED].iterrows()
    ]
    more = len(counts) - NAMED
    return problems if more <= 0 else [*problems, f"{more} more sources have different numbers"]


def _unmatched(lacking: pd.DataFrame) -> list[str]:
    """A sentence for each example that some system lacks, with the first system that has it, and
    those that do not.
    """
    problems = []
    for pattern, rows in lacking.groupby(list(lacking.columns), sort=False):
        is_lacking = dict(zip(lacking.columns, pattern, strict=True))
        having = next(name for name, lacks in is_lacking.items() if not lacks)
        others = ", ".join(name for name, lacks in is_lacking.items() if lacks)
        named = [
            f"{having}: {shortened(str(label))!r} has no matching row in {others}"
            for label in rows.index[:NAMED]
        ]
        more = len(rows) - NAMED
        counted = [f"{having}: {more} more have no matching row in {others}"] if more > 0 else []
        problems += named + counted
    return problems
