"""The ids and indices of `ESTIME`, each id counted once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

GREATEST_ID = 2**53  # up to which every integer is a float64 of its own


def id_numbers(ids: Any, number: int) -> list[float]:
    """The ids of so many summaries, NaN for each where there are none."""
    if ids is None:
        return [math.nan] * number
    found: list[float] = [*_integers("ids", ids)]
    if len(found) != number:
        came = f"{len(found)} and {number}"
        raise ValueError(
            f"Expected arguments `ids` and `preds` to be of one length, but got {came}."
        )
    return found


def chosen_rows(indices: Any, number: int) -> list[int]:
    """The indices of some of so many summaries."""
    found = _integers("indices", indices)
    for index in found:
        if not 0 <= index < number:
            raise ValueError(
                f"Expected argument `indices` to lie within 0..{number - 1}, but got {index}."
            )
    return found


def _integers(name: str, numbers: Any) -> list[int]:
    """The integers in a tensor of one axis or in a sequence; none may be too large for float64."""
    if (
        not isinstance(numbers, Iterable)
        or isinstance(numbers, (str, bytes))
        or getattr(numbers, "ndim", 1) != 1
    ):
        raise TypeError(
            f"Expected argument `{name}` to be a list or a tensor of integers, but got {numbers!r}."
        )
    listed = list(numbers.tolist() if isinstance(numbers, Tensor) else numbers)
    for index, number in enumerate(listed):
        if isinstance(number, Tensor) and number.ndim == 0:
            listed[index] = number = number.item()
        if (
            isinstance(number, bool)
            or not hasattr(number, "__index__")
            or abs(number) > GREATEST_ID
        ):
            raise ValueError(
                f"Expected argument `{name}` to hold integers up to 2**53 only, but got {number!r} at index {index}."
            )
    return listed


def each_id_once(rows: Tensor) -> tuple[Tensor, list[int]]:
    """Of rows with an id or NaN and then numbers, (n, 1 + k), the first of each id in order of the
    ids, and behind them those without an id as they came; and the ids of rows left out whose
    numbers differ from the first.
    """
    named = rows[~rows[:, 0].isnan()]
    named = named[named[:, 0].argsort(stable=True)]
    first = torch.ones(len(named), dtype=torch.bool, device=rows.device)
    first[1:] = named[1:, 0] != named[:-1, 0]
    kept = named[first]
    differing = ~torch.isclose(named, kept[first.cumsum(0) - 1], equal_nan=True).all(1)
    return torch.cat([kept, rows[rows[:, 0].isnan()]]), [
        int(number) for number in named[differing, 0]
    ]
