"""Tidy tables of scores and judgements -> one grid of documents by systems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.studies.columns import DOCUMENT_COLUMNS, KEY, SYSTEM_COLUMNS
from estime_metric.studies.keyed import Names, by_summary, cell_names, keyed, listed
from estime_metric.table.arrays import Floats, finite

MISSING = ("error", "drop")  # what `join` does about cells that one of the tables lacks


@dataclass(frozen=True, eq=False)
class Grid:
    """The scores of one ``measure`` next to the judgements of one quality (``judgement``), for
    every summary. ``documents`` and ``systems`` name the D rows and S columns of ``scores`` and
    ``judgements``, float64 of shape (D, S), higher is better; both are NaN for a summary that `join`
    excluded. ``dropped`` says which, in one sentence each."""

    documents: tuple[str, ...]
    systems: tuple[str, ...]
    scores: Floats
    judgements: Floats
    measure: str
    judgement: str
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.documents), len(self.systems))
        tables = {name: np.asarray(getattr(self, name)) for name in ("scores", "judgements")}
        for name, table in tables.items():
            if table.shape != shape:
                raise ValueError(
                    f"Expected argument `{name}` to be of shape {shape}, as the names of documents and systems are, "
                    f"but got {table.shape}."
                )
        excluded = pd.isna(tables["scores"]) & pd.isna(tables["judgements"])
        for name, table in tables.items():
            values = finite(name, np.where(excluded, 0, table), 2)
            object.__setattr__(self, name, np.where(excluded, np.nan, values))

    @property
    def cells(self) -> pd.DataFrame:
        """The ``scores`` and ``judgements`` of the summaries that have both, by document and system."""
        keys = pd.MultiIndex.from_product([self.documents, self.systems], names=KEY)
        columns = {"scores": self.scores.ravel(), "judgements": self.judgements.ravel()}
        return pd.DataFrame(columns, index=keys).dropna()


def join(
    scores: pd.DataFrame,
    judgements: pd.DataFrame,
    measure: str,
    judgement: str,
    *,
    document: Names = DOCUMENT_COLUMNS,
    system: Names = SYSTEM_COLUMNS,
    lower_is_better: bool = False,
    missing: str = "error",
) -> Grid:
    """Lays scores and judgements side by side, by document and system.

    Args:
        scores, judgements: tidy, one row for each summary. The grid follows the order of the
            judgements.
        measure, judgement: columns of numbers in the one and the other; a higher judgement is
            better.
        document, system: what the columns of names can be called; they are compared as text (7 and
            7.0 are ``"7"``, see `estime_metric.compare.join`). A system of SummEval can be called
            ``M0`` in one table and ``LEAD-3`` in the other.
        lower_is_better: the scores count errors, say; they are negated.
        missing: ``"error"``: both tables have every document with every system; or ``"drop"``:
            summaries that one of the tables lacks are excluded, and ``Grid.dropped`` says which.

    Raises:
        TypeError: a column contains no numbers.
        KeyError: a column of numbers is missing.
        ValueError: a column of names is missing; a name is empty; a cell occurs twice, is infinite, or
            is missing while ``missing="error"``; nothing remains; all scores or all judgements are
            equal.

    Example:
        >>> scores = pd.DataFrame({"document": ["a", "a", "b", "b"], "system": ["X", "Y"] * 2, "alarms": [3, 0, 2, 1]})
        >>> judgements = scores[["document", "system"]].assign(consistency=[1.0, 5.0, 4.0, 4.5])
        >>> grid = join(scores, judgements, "alarms", "consistency", lower_is_better=True)
        >>> grid.documents, grid.systems, grid.scores.tolist()
        (('a', 'b'), ('X', 'Y'), [[-3.0, 0.0], [-2.0, -1.0]])
    """
    check_choice("missing", missing, MISSING)

    def cells_of(table: pd.DataFrame, where: str, column: str, *systems: str) -> pd.Series:
        named = keyed(table, where, document, system)
        return by_summary(named, [column], where, systems)[column].dropna()

    y = cells_of(judgements, "the table of judgements", judgement)
    x = cells_of(scores, "the table of scores", measure, *y.index.unique("system"))
    problems: list[str] = []
    common = []
    for part in KEY:
        judged, scored = (side.index.unique(part) for side in (y, x))
        common.append(judged.intersection(scored, sort=False))
        for what, known, other in (("scores", judged, scored), ("judgements", scored, judged)):
            if len(strange := known.difference(other, sort=False)):
                problems.insert(0, f"{part} without {what}: {listed(strange)}")
    keys = pd.MultiIndex.from_product(common, names=KEY)
    for column, side in ((measure, x), (judgement, y)):
        if len(gaps := keys.difference(side.index, sort=False)):
            problems.append(f"{column!r} is missing for {cell_names(gaps)}")
    if problems and missing == "error":
        raise ValueError(
            f"Expected the tables of scores and judgements to contain the same summaries, but {'; '.join(problems)}. "
            'With missing="drop" (--drop-missing) they are excluded.'
        )
    known = keys[keys.isin(x.index) & keys.isin(y.index)]
    if not len(known):
        raise ValueError("Expected the tables to have summaries in common, but none is left.")
    for column, side in ((measure, x), (judgement, y)):
        if np.ptp(values := side[known]) == 0:
            raise ValueError(
                f"Expected column {column!r} to vary, but all {len(values)} values are {values.iloc[0]}."
            )
    scores_of = 0.0 - x if lower_is_better else x  # no minus zero
    cells = pd.DataFrame({"scores": scores_of[known], "judgements": y[known]})
    return Grid(**arrays_of(cells), measure=measure, judgement=judgement, dropped=tuple(problems))


def arrays_of(cells: pd.DataFrame) -> dict[str, Any]:
    """The ``documents``, ``systems``, ``scores`` and ``judgements`` of a grid with these `Grid.cells`,
    in their order.
    """
    documents, systems = (cells.index.unique(part) for part in KEY)
    wide = cells.unstack("system")
    scores, judgements = (
        wide[name].loc[documents, systems].to_numpy() for name in ("scores", "judgements")
    )
    return {
        "documents": tuple(documents),
        "systems": tuple(systems),
        "scores": scores,
        "judgements": judgements,
    }


def by_system(grid: Grid) -> list[Grid]:
    """The part of each system, whose level ``summary`` is the correlation within this system."""
    return [
        replace(
            grid,
            systems=(system,),
            scores=grid.scores[:, [index]],
            judgements=grid.judgements[:, [index]],
        )
        for index, system in enumerate(grid.systems)
    ]
