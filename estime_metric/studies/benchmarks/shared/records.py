"""The files of benchmarks as tables: a row that lacks something is named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import KEY
from estime_metric.studies.keyed import listed
from estime_metric.table.rows import read_rows

Record = dict[str, Any]


def read_records(path: Path, fields: Sequence[str]) -> list[Record]:
    """The rows of a file of JSON Lines, JSON or CSV, each with some fields. Raises OSError if it
    cannot be read, ValueError for a damaged row or one that lacks a field."""
    rows = []
    for line in read_rows(path):
        number, row = line.number, line.row
        if line.problem:
            raise ValueError(
                f"Expected line {number} of {path.name} to be a record, but it {line.problem}."
            )
        if missing := [field for field in fields if field not in row]:
            raise ValueError(
                f"Expected line {number} of {path.name} to have {missing[0]!r}, but it is missing."
            )
        rows.append(row)
    return rows


def read_frame(path: Path, fields: Sequence[str], **renamed: str) -> pd.DataFrame:
    """The fields of a file as a table, those of ``renamed`` by other names; ``document`` and
    ``system`` are text. Raises as `read_records`.
    """
    table = pd.DataFrame(read_records(path, fields), columns=list(fields)).rename(columns=renamed)
    return table.astype({name: str for name in KEY if name in table})


def join(table: pd.DataFrame, other: pd.DataFrame, on: Sequence[str], what: str) -> pd.DataFrame:
    """The rows of a table, with the columns of another one that has the same cells ``on``.

    Raises ValueError unless there is one such row; ``what`` is expected, for example "a source for
    each document".
    """
    if len(twice := other.loc[other.duplicated(on), on]):
        raise ValueError(f"Expected {what}, but there are several for {_names(twice)}.")
    merged = table.merge(other, on=on, how="left", indicator=True)
    if len(lacking := merged.loc[merged["_merge"] == "left_only", on]):
        raise ValueError(f"Expected {what}, but there is none for {_names(lacking)}.")
    return merged.drop(columns="_merge")


def crossed(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of every document by every system, all systems of the first document first; a pair
    that lacks raises ValueError with the ``name`` of the data.
    """
    pairs = pd.MultiIndex.from_product([table[part].unique() for part in KEY], names=KEY)
    what = f"{name} to contain each document with each system"
    return join(pairs.to_frame(index=False), table, KEY, what)


def _names(rows: pd.DataFrame) -> str:
    """The cells of some rows, each row once."""
    keys: Iterable[Any] = rows.drop_duplicates().itertuples(index=False, name=None)
    return listed([key[0] if len(key) == 1 else key for key in keys])
