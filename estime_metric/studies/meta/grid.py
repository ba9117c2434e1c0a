"""Tidy tables of scores and judgements -> one complete grid of documents by systems."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.studies.columns import KEY
from estime_metric.studies.keyed import by_summary, cell_names, keyed, listed
from estime_metric.table.arrays import Floats, finite

MISSING = ("error", "drop")  # what `join` does about cells that one of the tables lacks


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
            `estime_metric.compare.join`); a pair of names if the two tables differ. A system of
            SummEval can be called ``M0`` in one and ``LEAD-3`` in the other.
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
    names = [(name, name) if isinstance(name, str) else name for name in (document, system)]
    of_scores, of_judgements = zip(*names, strict=True)
    y = _column(judgements, "judgements", judgement, of_judgements)
    x = _column(scores, "scores", measure, of_scores, y.index.unique("system"))
    drop = missing == "drop"
    problems = []
    for part in reversed(KEY):
        for lacking, known, other in (("judgements", x, y), ("scores", y, x)):
            strange = known.index.unique(part).difference(other.index.unique(part), sort=False)
            if len(strange):
                shown = ", ".join(strange) if drop else listed(strange)
                problems.append(f"{part} without {lacking}: {shown}")
    documents, systems = (
        y.index.unique(part).intersection(x.index.unique(part), sort=False) for part in KEY
    )
    cells = pd.MultiIndex.from_product([documents, systems], names=KEY)
    complete = documents
    for column, side in ((measure, x), (judgement, y)):
        if len(gaps := cells.difference(side.index, sort=False)):
            with_gap = gaps.unique("document")
            complete = complete.difference(with_gap, sort=False)
            problems.append(
                f"document with a gap in {column!r}: {', '.join(with_gap)}"
                if drop
                else f"{column!r} is missing for {cell_names(gaps)}"
            )
    if problems and not drop:
        raise ValueError(
            f"Expected the tables of scores and judgements to contain the same summaries, but {'; '.join(problems)}. "
            'With missing="drop" (--drop-missing) they are excluded.'
        )
    if not len(complete) or not len(systems):
        raise ValueError("Expected the tables to have summaries in common, but none is left.")
    values, judged_values = (
        side.unstack("system").loc[complete, systems].to_numpy() for side in (x, y)
    )
    for column, table in ((measure, values), (judgement, judged_values)):
        if (table == table[0, 0]).all():
            raise ValueError(
                f"Expected column {column!r} to vary, but all {table.size} values are {table[0, 0]}."
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


def _column(
    table: pd.DataFrame,
    side: str,
    column: str,
    key: tuple[str, ...],
    systems: Collection[str] = (),
) -> pd.Series:
    """A column of a table as `by_summary` gives it, without empty cells; ``key`` are its columns of
    names.
    """
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"Expected argument `{side}` to be a DataFrame, but got {type(table).__name__}."
        )
    where = f"the table of {side}"
    named = keyed(table, where, *key)
    return by_summary(named, [column], where, systems)[column].dropna()
