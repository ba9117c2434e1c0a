"""Tidy tables of scores and judgements -> one complete grid of documents by systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.compare.join import id_of, name_of
from estime_metric.table.arrays import Floats, finite

MISSING = ("error", "drop")  # what `join` does about cells that one of the tables lacks
_LISTED = 5  # cells or names that a message lists before it only counts
_KEY = ["document", "system"]  # what the cells of a grid are called
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
            `estime_metric.compare.join`); a pair of names if the two tables differ.
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
    drop = missing == "drop"
    documents_in, systems_in = (
        (name, name) if isinstance(name, str) else name for name in (document, system)
    )
    scored = _column(scores, "scores", documents_in[0], systems_in[0], measure, drop)
    judged = _column(judgements, "judgements", documents_in[1], systems_in[1], judgement, drop)
    problems = list(_only_in_one_table(scored, judged, drop))

    documents, systems = (
        [name for name in judged.index.unique(kind) if name in scored.index.unique(kind)]
        for kind in _KEY
    )
    every_cell = pd.MultiIndex.from_product([documents, systems], names=_KEY)
    scored, judged = scored.reindex(every_cell), judged.reindex(every_cell)
    problems += _gaps(scored, measure, drop)
    problems += _gaps(judged, judgement, drop)
    if problems and not drop:
        raise ValueError(
            f"Expected the tables of scores and judgements to contain the same summaries, but {'; '.join(problems)}. "
            f"{_DROP} they are excluded."
        )

    with_gap = every_cell[scored.isna() | judged.isna()].unique("document")
    complete = [name for name in documents if name not in with_gap]
    if not complete or not systems:
        raise ValueError("Expected the tables to have summaries in common, but none is left.")
    values, judged_values = (
        column.loc[complete].to_numpy().reshape(len(complete), len(systems))
        for column in (scored, judged)
    )
    for name, cells in ((measure, values), (judgement, judged_values)):
        if (cells == cells[0, 0]).all():
            raise ValueError(
                f"Expected column {name!r} to vary, but all {cells.size} values are {cells[0, 0]}."
            )
    return Grid(
        documents=tuple(complete),
        systems=tuple(systems),
        scores=0.0 - values if lower_is_better else values,  # no minus zero
        judgements=judged_values,
        measure=measure,
        judgement=judgement,
        dropped=tuple(problems),
    )


def keyed_numbers(
    table: pd.DataFrame, where: str, document: str, system: str, columns: Sequence[str]
) -> pd.DataFrame:
    """Some columns of a tidy table as numbers, by the document and the system of each row; NaN in an
    empty cell.

    Args:
        table: one row for each summary.
        where: what the table is called in messages.
        document, system: its columns of names, which become text.
        columns: its columns of numbers.

    Raises:
        TypeError: a cell is neither empty nor a number.
        ValueError: a column is missing, a name is empty, a summary occurs twice, or a number is
            infinite.
    """
    for name in (document, system, *columns):
        if name not in table.columns:
            listing = ", ".join(map(str, table.columns)) or "none"
            raise ValueError(
                f"Expected {where} to have a column {name!r}, but its columns are {listing}."
            )
    names = table[[document, system]]
    nameless = table.index[(names.isna() | (names == "")).any(axis=1)]
    if len(nameless):
        raise ValueError(
            f"Expected {where} to name document and system in each row, but row {listed(nameless)} lacks one."
        )
    keys = pd.MultiIndex.from_arrays(
        [table[document].map(id_of), table[system].map(name_of)], names=_KEY
    )
    repeated = keys[keys.duplicated()].unique()
    if len(repeated):
        raise ValueError(
            f"Expected {where} to contain each summary once, but {cell_names(repeated)} occurs twice."
        )
    cells = table[list(columns)].set_axis(keys)
    return pd.DataFrame(
        {name: _numbers(cells[name], f"column {name!r} of {where}") for name in columns},
        index=keys,
    )


def cell_names(keys: Iterable[tuple[str, str]]) -> str:
    """Documents and systems, as `listed`."""
    return listed([f"({document}, {system})" for document, system in keys])


def listed(cells: Sequence[Any]) -> str:
    """The first few of ``cells``, and how many more there are."""
    shown = ", ".join(map(str, cells[:_LISTED]))
    return shown if len(cells) <= _LISTED else f"{shown} and {len(cells) - _LISTED} more"


def _numbers(cells: pd.Series, where: str) -> pd.Series:
    """Cells as float64, NaN if they are empty; the message says ``where`` they are."""
    values = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    unread = cells[values.isna() & cells.notna()]
    if len(unread):
        raise TypeError(
            f"Expected {where} to contain numbers, but got {unread.iloc[0]!r} at {cell_names(unread.index)}."
        )
    infinite = values[np.isinf(values)]
    if len(infinite):
        raise ValueError(
            f"Expected {where} to be finite, but got infinity at {cell_names(infinite.index)}."
        )
    return values


def _column(
    table: pd.DataFrame, side: str, document: str, system: str, column: str, drop: bool
) -> pd.Series:
    """A column of one of the tables as `keyed_numbers`; without a gap unless they are dropped."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"Expected argument `{side}` to be a DataFrame, but got {type(table).__name__}."
        )
    where = f"the table of {side}"
    values = keyed_numbers(table, where, document, system, [column])[column]
    if not drop and values.isna().any():
        raise ValueError(
            f"Expected column {column!r} of {where} to be finite, but there is NaN at "
            f"{cell_names(values.index[values.isna()])}. {_DROP} these documents are excluded."
        )
    return values


def _only_in_one_table(scored: pd.Series, judged: pd.Series, drop: bool) -> Iterator[str]:
    """The systems and documents that only one of the tables has."""
    for kind in ("system", "document"):
        with_scores, with_judgements = scored.index.unique(kind), judged.index.unique(kind)
        for lacking, names in (
            ("judgements", with_scores.difference(with_judgements, sort=False)),
            ("scores", with_judgements.difference(with_scores, sort=False)),
        ):
            if len(names):
                yield f"{kind} without {lacking}: {', '.join(names) if drop else listed(names)}"


def _gaps(cells: pd.Series, column: str, drop: bool) -> Iterator[str]:
    """The cells that a table lacks, or, if they are dropped, their documents."""
    gaps = cells.index[cells.isna()]
    if len(gaps) and drop:
        yield f"document with a gap in {column!r}: {', '.join(gaps.unique('document'))}"
    elif len(gaps):
        yield f"{column!r} is missing for {cell_names(gaps)}"
