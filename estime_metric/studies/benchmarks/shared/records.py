"""The files and Hub datasets of benchmarks: a row that lacks something is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from estime_metric._messages import needs_extra
from estime_metric.studies.columns import KEY
from estime_metric.studies.keyed import cell_names, listed
from estime_metric.table.rows import read_rows
from estime_metric.table.table import frame_of


def read_frame(path: Path, fields: Sequence[str], **renamed: str) -> pd.DataFrame:
    """The fields of a file of JSON Lines, JSON or CSV as a table, those of ``renamed`` by other names;
    ``document`` and ``system`` are text.

    Raises OSError if it cannot be read, ValueError for a damaged row or one that lacks a field.
    """
    table = frame_of(path, read_rows(path))
    for field in fields:
        lines = table.index[table[field].isna()] if field in table else table.index
        if len(lines):
            raise ValueError(
                f"Expected line {lines[0]} of {path.name} to have {field!r}, but it is missing."
            )
    table = table.reindex(columns=list(fields)).reset_index(drop=True).rename(columns=renamed)
    return table.astype({name: str for name in KEY if name in table})


def join(table: pd.DataFrame, other: pd.DataFrame, on: Sequence[str], what: str) -> pd.DataFrame:
    """The rows of a table, with the columns of another one that has the same cells ``on``.

    Raises ValueError unless there is one such row; ``what`` is expected, for example "a source for
    each document".
    """
    twice = other[other.duplicated(on)]
    merged = table.merge(other.drop_duplicates(on), on=on, how="left", indicator=True)
    lacking = merged[merged["_merge"] == "left_only"]
    for some, problem in ((twice, "there are several"), (lacking, "there is none")):
        if len(some):
            keys = some[on].drop_duplicates()
            names = cell_names(keys) if len(on) > 1 else listed(list(keys[on[0]]))
            raise ValueError(f"Expected {what}, but {problem} for {names}.")
    return merged.drop(columns="_merge")


def crossed(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of every document by every system, all systems of the first document first; a pair
    that lacks raises ValueError with the ``name`` of the data.
    """
    pairs = pd.MultiIndex.from_product([table[part].unique() for part in KEY], names=KEY)
    what = f"{name} to contain each document with each system"
    return join(pairs.to_frame(index=False), table, KEY, what)


def load_dataset(name: str, *edition: str, split: str, revision: str | None, advice: str) -> Any:
    """A split of a dataset of the Hub, or of a local folder with its layout; ``advice`` says what else
    a user can do if it cannot be loaded (OSError). ImportError without ``datasets``.
    """
    with needs_extra("evaluate", "Datasets need `datasets`"):
        import datasets
    try:
        revision = None if Path(name).is_dir() else revision
        return datasets.load_dataset(name, *edition, split=split, revision=revision)
    except (OSError, ValueError, RuntimeError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise OSError(
            f"The dataset {name!r} cannot be loaded: {reason.rstrip('.')}. Connect to the Hugging Face "
            f"Hub, or {advice}."
        ) from error
