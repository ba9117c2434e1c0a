"""Tidy tables of scores and judgements -> one complete grid of documents by systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from estime_metric.comparison.keys import id_of, name_of
from estime_metric.stats.checks import Floats, finite, listed
from estime_metric.validation import check_choice

MISSING = ("error", "drop")  # what `join` does about cells that one of the tables lacks
_DROP = 'With missing="drop" (--drop-missing)'


@dataclass(frozen=True, eq=False)
class Grid:
    """The scores of one ``measure`` next to the judgements of one quality (``judgement``), for
    every summary. ``documents`` and ``systems`` name the D rows and S columns of ``scores`` and
    ``judgements``, finite float64 of shape (D, S); higher is better. ``dropped`` says what `join`
    excluded, in one sentence each."""

    documents: tuple[str, ...]
    systems: tuple[str, ...]
    scores: Floats
    judgements: Floats
    measure: str
    judgement: str
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.documents), len(self.systems))
        for name in ("scores", "judgements"):
            values = finite(name, getattr(self, name), 2)
            if values.shape != shape:
                raise ValueError(
                    f"Expected argument `{name}` to be of shape {shape}, as the names of documents and systems are, "
                    f"but got {values.shape}."
                )
            object.__setattr__(self, name, values)


def join(
    scores: pd.DataFrame,
    judgements: pd.DataFrame,
    measure: str,
    judgement: str,
    *,
    document: str | tuple[str, str] = "document",
    system: str | tuple[str, str] = "system",
    lower_is_better: bool = False,
    missing: str = "error",
) -> Grid:
    """Lays scores and judgements side by side: every document with every system, once.

    Args:
        scores, judgements: tidy, one row for each summary. The grid follows the order of the
            judgements.
        measure, judgement: columns of numbers in the one and the other; a higher judgement is
            better.
        document, system: columns of names, compared as text (7 and 7.0 are ``"7"``, see
            `estime_metric.comparison.keys`); a pair of names if the two tables differ.
        lower_is_better: the scores count errors, say; they are negated.
        missing: ``"error"``; or ``"drop"``: systems and documents that only one table knows are
            excluded, then documents that lack a cell for a system that remains. ``Grid.dropped``
            says which.

    Raises:
        TypeError: a table is not a DataFrame, or a column contains no numbers.
        ValueError: a column is missing; a name is empty; a cell occurs twice, is infinite, or is
            missing while ``missing="error"``; nothing remains; all scores or all judgements are
            equal.

    Example:
        >>> scores = pd.DataFrame({"document": ["a", "a", "b", "b"], "system": ["X", "Y"] * 2, "alarms": [3, 0, 2, 1]})
        >>> judgements = scores[["document", "system"]].assign(consistency=[1.0, 5.0, 4.0, 4.5])
        >>> grid = join(scores, judgements, "alarms", "consistency", lower_is_better=True)
        >>> grid.documents, grid.systems, grid.scores.tolist()
        (('a', 'b'), ('X', 'Y'), [[-3.0, 0.0], [-2.0, -1.0]])
    """
    check_choice("missing", missing, MISSING)
    documents_of, systems_of = _ColumnNames.of(document), _ColumnNames.of(system)
    drop = missing == "drop"
    x = _wide(scores, "scores", documents_of.scores, systems_of.scores, measure, drop)
    y = _wide(
        judgements, "judgements", documents_of.judgements, systems_of.judgements, judgement, drop
    )
    left_out = [
        f"{kind} without {lacking}: {', '.join(only) if drop else listed(only)}"
        for kind, scored, judged in (
            ("system", x.columns, y.columns),
            ("document", x.index, y.index),
        )
        for lacking, one, other in (("judgements", scored, judged), ("scores", judged, scored))
        if (only := [name for name in one if name not in other])
    ]
    documents = [name for name in y.index if name in x.index]
    systems = [name for name in y.columns if name in x.columns]
    x, y = x.loc[documents, systems], y.loc[documents, systems]
    for side, name in ((x, measure), (y, judgement)):
        gaps = [
            (side.index[row], side.columns[column])
            for row, column in np.argwhere(side.isna().to_numpy())
        ]
        if gaps and drop:
            left_out.append(
                f"document with a gap in {name!r}: {', '.join(dict.fromkeys(key[0] for key in gaps))}"
            )
        elif gaps:
            left_out.append(f"{name!r} is missing for {cell_names(gaps)}")
    if left_out and not drop:
        raise ValueError(
            f"Expected the tables of scores and judgements to contain the same summaries, but {'; '.join(left_out)}. "
            f"{_DROP} they are excluded."
        )
    complete = (x.notna() & y.notna()).all(axis=1)
    x, y = x[complete], y[complete]
    if x.empty:
        raise ValueError("Expected the tables to have summaries in common, but none is left.")
    for side, name in ((x, measure), (y, judgement)):
        if len(np.unique(side.to_numpy())) == 1:
            raise ValueError(
                f"Expected column {name!r} to vary, but all {side.size} values are {side.iloc[0, 0]}."
            )
    values = x.to_numpy(dtype=np.float64)
    values = 0.0 - values if lower_is_better else values  # no minus zero
    judged = y.to_numpy(dtype=np.float64)
    return Grid(
        documents=tuple(x.index),
        systems=tuple(x.columns),
        scores=values,
        judgements=judged,
        measure=measure,
        judgement=judgement,
        dropped=tuple(left_out),
    )


class _ColumnNames(NamedTuple):
    """What a column is called in the scores, and in the judgements."""

    scores: str
    judgements: str

    @classmethod
    def of(cls, names: str | tuple[str, str]) -> _ColumnNames:
        return cls(names, names) if isinstance(names, str) else cls(*names)


def _wide(
    table: pd.DataFrame, side: str, document: str, system: str, column: str, drop: bool
) -> pd.DataFrame:
    """One table as documents by systems, in order of appearance; NaN if there is no cell."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"Expected argument `{side}` to be a DataFrame, but got {type(table).__name__}."
        )
    for name in (document, system, column):
        if name not in table.columns:
            listing = ", ".join(map(str, table.columns)) or "none"
            raise ValueError(
                f"Expected argument `{side}` to have a column {name!r}, but its columns are {listing}."
            )
    names = table[[document, system]]
    if len(bad := table.index[(names.isna() | (names == "")).any(axis=1)]):
        raise ValueError(
            f"Expected `{side}` to name document and system in each row, but row {listed(bad)} lacks one."
        )
    keys = pd.MultiIndex.from_arrays([table[document].map(id_of), table[system].map(name_of)])
    if len(twice := keys[keys.duplicated()].unique()):
        raise ValueError(
            f"Expected `{side}` to contain each summary once, but {cell_names(twice)} occurs twice."
        )
    where = f"column {column!r} of `{side}`"
    values = as_numbers(table[column].set_axis(keys), where)
    if not drop and values.isna().any():
        raise ValueError(
            f"Expected {where} to be finite, but there is NaN at {cell_names(values.index[values.isna()])}. "
            f"{_DROP} these documents are excluded."
        )
    if values.empty:
        return pd.DataFrame(dtype=np.float64)
    return values.unstack().loc[
        keys.get_level_values(0).unique(), keys.get_level_values(1).unique()
    ]


def as_numbers(cells: pd.Series, where: str) -> pd.Series:
    """Cells by document and system as float64, NaN if they are empty; TypeError for text, ValueError
    for an infinity. ``where`` they are, for messages.
    """
    values = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    if len(unread := cells[values.isna() & cells.notna()]):
        raise TypeError(
            f"Expected {where} to contain numbers, but got {unread.iloc[0]!r} at {cell_names(unread.index)}."
        )
    if len(infinite := values[np.isinf(values)]):
        raise ValueError(
            f"Expected {where} to be finite, but got infinity at {cell_names(infinite.index)}."
        )
    return values


def cell_names(keys: Iterable[tuple[str, str]]) -> str:
    """Documents and systems, as `listed`."""
    return listed([f"({document}, {system})" for document, system in keys])
