"""The examples that `ESTIME` keeps, and its ids and indices; each id is counted once.

An example is kept as a row, (1 + k,): its id or NaN, then its ``k`` values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

GREATEST_ID = 2**53  # up to which every integer has a distinct float64


def rows_of(ids: Sequence[float], values: Tensor) -> Tensor:
    """Examples as rows, (n, 1 + k), from their ids or NaN and their values, (n, k)."""
    column = torch.tensor(ids, dtype=torch.float64, device=values.device)
    return torch.cat([column[:, None], values], dim=1)


def ids_of(rows: Tensor) -> Tensor:
    """The ids of rows, (n,), NaN for a row without one."""
    return rows[:, 0]


def values_of(rows: Tensor) -> Tensor:
    """The values of rows, (n, k)."""
    return rows[:, 1:]


def id_numbers(ids: Any, summaries: int) -> Sequence[float]:
    """The ids of the given number of summaries, NaN for each if there are none."""
    if ids is None:
        return [math.nan] * summaries
    numbers = _integers("ids", ids)
    if len(numbers) != summaries:
        raise ValueError(
            "Expected arguments `ids` and `preds` to have the same length, but got "
            f"{len(numbers)} and {summaries}."
        )
    return numbers


def chosen_indices(indices: Any, summaries: int) -> list[int]:
    """The indices of some of the given number of summaries."""
    chosen = _integers("indices", indices)
    for index in chosen:
        if not 0 <= index < summaries:
            raise ValueError(
                f"Expected argument `indices` to be within 0..{summaries - 1}, but got {index}."
            )
    return chosen


def _integers(name: str, numbers: Any) -> list[int]:
    """The integers in a tensor of one axis or in a sequence; none may be too large for float64."""
    try:
        tensor = torch.as_tensor(numbers, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        tensor = None
    if (
        tensor is None
        or tensor.ndim != 1
        or (len(tensor) and (tensor.is_floating_point() or tensor.dtype is torch.bool))
        or (tensor.abs() > GREATEST_ID).any()
    ):
        raise ValueError(
            f"Expected argument `{name}` to be a list or a tensor of integers up to 2**53, but got {numbers!r}."
        )
    return [int(number) for number in tensor.tolist()]


def each_id_once(rows: Tensor, of_texts: Sequence[int]) -> tuple[Tensor, list[int]]:
    """Returns the first row of each id in the order of the ids, followed by the rows without an id
    in the given order; and the ids of dropped rows that belong to other texts than the first row.

    ``of_texts`` are the values that depend on the texts alone. The others may differ for the same
    texts: they are rounded in another way in a batch of other texts.
    """
    without_id = ids_of(rows).isnan()
    named = rows[~without_id]
    named = named[ids_of(named).argsort(stable=True)]
    is_first = torch.ones(len(named), dtype=torch.bool, device=rows.device)
    is_first[1:] = ids_of(named)[1:] != ids_of(named)[:-1]
    kept = named[is_first]
    first_of_its_id = kept[is_first.cumsum(0) - 1]
    values, first_values = (values_of(part)[:, of_texts] for part in (named, first_of_its_id))
    are_equal = torch.isclose(values, first_values, rtol=0, atol=0, equal_nan=True)
    dropped = [int(number) for number in ids_of(named)[~are_equal.all(1)]]
    return torch.cat([kept, rows[without_id]]), dropped
