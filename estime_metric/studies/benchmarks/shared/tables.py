"""Cells of tables for readers from tidy tables: a row per measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from estime_metric.show.tables import Cell, interval_cell
from estime_metric.studies.tables import Column

#: What a column of a table for readers shows -> the column. It shows a field of the tidy table, of
#: the row of a measure with the cells that follow the field's name: ``("value", "all", "pearson")``.
Shown = Mapping[Any, Column]


def with_interval_texts(frame: pd.DataFrame, *names: str, decimals: int = 2) -> pd.DataFrame:
    """The tidy table with the interval of each field ``NAME`` as text, in a column
    ``NAME_interval``.
    """
    texts = {}
    for name in names:
        prefix = "" if name == "value" else f"{name}_"
        ends = zip(frame[f"{prefix}low"], frame[f"{prefix}high"], strict=True)
        texts[f"{name}_interval"] = [interval_cell(low, high, decimals) for low, high in ends]
    return frame.assign(**texts)


def measure_cells(
    frame: pd.DataFrame, by: Sequence[str], shown: Iterable[tuple[str, ...]]
) -> pd.DataFrame:
    """What is shown of each measure, by the name of its column of scores. ``by`` are the columns of
    the tidy table that, with ``column``, identify its rows.
    """
    keys = pd.MultiIndex.from_tuples(shown, names=["field", *by])
    fields = list(keys.get_level_values(0).unique())
    cells = frame.astype(object).pivot(index="column", columns=list(by), values=fields)
    return cells.reindex(columns=keys)


def measure_rows(cells: pd.DataFrame, labels: Mapping[str, str]) -> list[tuple[Cell, ...]]:
    """A row for each label; without cells for a measure that has none."""
    rows = cells.reindex(list(labels)).itertuples(index=False, name=None)
    return [(label, *row) for label, row in zip(labels.values(), rows, strict=True)]
