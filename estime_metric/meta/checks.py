"""Checks of scores and judgements: the argument, what was expected, what came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Offending cells or names that a message lists before it only counts.
LISTED = 5


def check_share(name: str, value: float) -> None:
    """Refuses a number that does not lie strictly between 0 and 1.

    Raises:
        ValueError: the message names argument and value.
    """
    if not 0 < value < 1:
        raise ValueError(f"Expected argument `{name}` to lie between 0 and 1, but got {value}.")


def finite(name: str, values: Any, dimensions: int) -> Floats:
    """``values`` as a float64 array of so many dimensions.

    Raises:
        TypeError: they are no numbers.
        ValueError: another number of dimensions, or NaN or infinity, whose first index is named.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Expected argument `{name}` to hold numbers, but got {error}.") from error
    if array.ndim != dimensions:
        raise ValueError(f"Expected argument `{name}` to have {dimensions} dimensions, but got shape {array.shape}.")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = tuple(bad[0].tolist())
        raise ValueError(f"Expected argument `{name}` to be finite, but got {array[index]} at index {index}.")
    return array


def two_grids(scores: Any, judgements: Any) -> tuple[Floats, Floats]:
    """Both as float64 arrays of one shape (documents, systems).

    Raises:
        TypeError, ValueError: as `finite`; or the shapes differ.
    """
    x, y = finite("scores", scores, 2), finite("judgements", judgements, 2)
    if x.shape != y.shape:
        raise ValueError(
            f"Expected arguments `scores` and `judgements` to be of one shape, but got {x.shape} and {y.shape}."
        )
    return x, y


def listed(cells: Sequence[Any]) -> str:
    """The first few of ``cells``, and how many more there are."""
    shown = ", ".join(map(str, cells[:LISTED]))
    return shown if len(cells) <= LISTED else f"{shown} and {len(cells) - LISTED} more"
