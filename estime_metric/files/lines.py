"""What every reader gives: a line of a table, with its row or with what is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: A row of a table: the names of its columns and their values.
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table.

    Attributes:
        path: the file.
        number: the number of the line, from 1. All formats count alike: the header of CSV is not
            counted, and a row of CSV that extends over several lines counts once.
        row: the row; empty if there is a problem.
        problem: what is wrong with the line, as the end of the sentence "line 3 ..."; empty if
            nothing is.
        share: about which share of the file has been read with this line; 0 if its size is not
            known.
    """

    path: Path
    number: int
    row: Row = field(default_factory=dict)
    problem: str = ""
    share: float = 0.0


def check_unique(columns: Iterable[str], path: Path) -> None:
    """Raises ValueError if a column occurs twice: a row would have only one of its values."""
    for column, times in Counter(columns).most_common(1):
        if times > 1:
            raise ValueError(
                f"Expected the column names in {path.name} to be unique, but {column!r} occurs "
                f"{times} times."
            )
