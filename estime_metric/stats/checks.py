"""Checks of scores and judgements: the argument, what was expected, what came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LISTED = 5  # offending cells or names that a message lists before it only counts


def finite(name: str, values: Any, dimensions: int) -> Floats:
    """``values`` as a float64 array with the given number of dimensions; TypeError if they are not
    numbers, ValueError for another shape, or for NaN or infinity, whose first index is named.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Expected argument `{name}` to contain numbers, but got {error}."
        ) from error
    if array.ndim != dimensions:
        raise ValueError(
            f"Expected argument `{name}` to have {dimensions} dimensions, but got shape {array.shape}."
        )
    if len(bad := np.argwhere(~np.isfinite(array))):
        index = tuple(bad[0].tolist())
        raise ValueError(
            f"Expected argument `{name}` to be finite, but got {array[index]} at index {index}."
        )
    return array


def alike(dimensions: int, **arguments: Any) -> list[Floats]:
    """Arguments as `finite` arrays of the same shape; TypeError and ValueError name the argument."""
    arrays = {name: finite(name, values, dimensions) for name, values in arguments.items()}
    first, *others = arrays
    for name in others:
        if arrays[name].shape != arrays[first].shape:
            raise ValueError(
                f"Expected arguments `{first}` and `{name}` to have the same shape, but got {arrays[first].shape} and "
                f"{arrays[name].shape}."
            )
    return list(arrays.values())


def listed(cells: Sequence[Any]) -> str:
    """The first few of ``cells``, and how many more there are."""
    shown = ", ".join(map(str, cells[:LISTED]))
    return shown if len(cells) <= LISTED else f"{shown} and {len(cells) - LISTED} more"
