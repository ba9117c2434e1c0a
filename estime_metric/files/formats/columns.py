"""What the names of columns have to be in every format that lists them once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path


def check_unique(columns: Iterable[str], path: Path) -> None:
    """Raises ValueError if a column occurs twice: a row would have only one of its values."""
    column, times = next(iter(Counter(columns).most_common(1)), ("", 0))
    if times > 1:
        raise ValueError(
            f"Expected the column names in {path.name} to be unique, but {column!r} occurs "
            f"{times} times."
        )
