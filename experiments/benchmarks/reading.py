"""What the readers of the benchmarks' data have in common."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd


def known_first(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """The names, each once: those that are known, in the order of ``known``, before the others.

    Example:
        >>> known_first(["new", "DAE", "BLEU"], known=["BLEU", "Q2", "DAE"])
        ['BLEU', 'DAE', 'new']
    """
    occurring = dict.fromkeys(names)
    return list(dict.fromkeys([*(name for name in known if name in occurring), *occurring]))


def check_labels(table: pd.DataFrame, name: str) -> None:
    """Raises ValueError for a ``label`` that is neither 0 nor 1; ``name`` is the data's."""
    for row in table[~table["label"].isin((0, 1))].itertuples():
        raise ValueError(
            f"Expected labels 0 and 1 in {name}, but got {row.label!r} for {row.system!r}."
        )
