"""Checks of scores, judgements and groups. Each error names the argument, what was expected and what the
caller passed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


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


def group_codes(groups: Iterable[Hashable] | None, examples: int) -> Codes:
    """The number of the group of each example, from 0 in the order in which the groups first occur, of
    shape (examples,); ``None`` makes each example a separate group.

    TypeError: a group is not hashable. ValueError: there is not one group for each example.

    Example:
        >>> group_codes(["x", "y", "x"], 3).tolist(), group_codes(None, 3).tolist()
        ([0, 1, 0], [0, 1, 2])
    """
    if groups is None:
        return np.arange(examples, dtype=np.int64)
    group_by_example = list(groups)
    if len(group_by_example) != examples:
        raise ValueError(
            f"Expected argument `groups` to have a value for each of {examples} examples, but got "
            f"{len(group_by_example)}."
        )
    try:
        numbers = {group: number for number, group in enumerate(dict.fromkeys(group_by_example))}
    except TypeError as error:
        raise TypeError(
            f"Expected argument `groups` to contain hashable values, but got {error}."
        ) from error
    return np.array([numbers[group] for group in group_by_example], dtype=np.int64)
