"""Checks of what the functions are given: what is wrong is named, with its row and column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def check_table(values: ArrayLike, name: str) -> Floats:
    """``values`` as a float64 table (d, s) of finite numbers.

    Raises:
        TypeError, ValueError: it is none; the message names the argument and the first bad cell.
    """
    return _finite(values, name, 2, "(documents, systems)")


def check_vector(values: ArrayLike, name: str) -> Floats:
    """``values`` as a float64 vector (n,) of finite numbers.

    Raises:
        TypeError, ValueError: it is none; the message names the argument and the first bad place.
    """
    return _finite(values, name, 1, "(items,)")


def check_pair_of_tables(scores: ArrayLike, judgements: ArrayLike) -> tuple[Floats, Floats]:
    """Scores and judgements as tables of one shape (d, s).

    Raises:
        TypeError, ValueError: they are none; the message names the argument.
    """
    table, other = check_table(scores, "scores"), check_table(judgements, "judgements")
    if table.shape != other.shape:
        raise ValueError(
            f"Expected argument `judgements` to have the shape {table.shape} of `scores`, but got {other.shape}."
        )
    return table, other


def check_systems(systems: Sequence[str], number: int) -> tuple[str, ...]:
    """Names of systems, one for each column and all different.

    Raises:
        TypeError, ValueError: they are not.
    """
    if isinstance(systems, str):
        raise TypeError(f"Expected argument `systems` to be a sequence of names, but got the string {systems!r}.")
    names = tuple(systems)
    if len(names) != number:
        raise ValueError(f"Expected argument `systems` to hold {number} names, but got {len(names)}.")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ValueError(f"Expected argument `systems` to hold different names, but got {twice!r} twice.")
    return names


def count_in_texts(texts: Sequence[Sequence[str]], count: Callable[[str], int]) -> Floats:
    """A count of each text of a table, as a float64 table (d, s); of no row: shape (0, 0).

    Raises:
        ValueError: the rows differ in length.
    """
    width = len(texts[0]) if len(texts) else 0
    for place, row in enumerate(texts):
        if len(row) != width:
            raise ValueError(
                f"Expected argument `texts` to hold rows of {width} texts, but got {len(row)} in row {place}."
            )
    return np.array([[count(text) for text in row] for row in texts], dtype=np.float64).reshape(len(texts), width)


def _finite(values: ArrayLike, name: str, dimensions: int, shape: str) -> Floats:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Expected argument `{name}` to hold numbers only, but got {error}.") from error
    if table.ndim != dimensions:
        raise ValueError(f"Expected argument `{name}` to have the shape {shape}, but got {table.shape}.")
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        place = tuple(int(part) for part in bad[0])
        where = f"row {place[0]}, column {place[1]}" if dimensions == 2 else f"place {place[0]}"
        raise ValueError(f"Expected argument `{name}` to be finite everywhere, but got {table[place]} at {where}.")
    return table
