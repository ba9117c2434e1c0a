"""Examples of a data set that is split among processes: their ids, and each counted once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torchmetrics.utilities import rank_zero_warn

#: Greatest integer up to which every integer is a float64 of its own.
GREATEST_ID = 2**53


def integers(name: str, numbers: Any) -> list[int]:
    """The integers in a tensor of one axis or in a sequence."""
    listed = list(numbers.tolist() if isinstance(numbers, Tensor) and numbers.ndim == 1 else numbers)
    for index, number in enumerate(listed):
        if isinstance(number, Tensor) and number.ndim == 0:
            listed[index] = number = number.item()
        if isinstance(number, bool) or not hasattr(number, "__index__") or abs(number) > GREATEST_ID:
            raise ValueError(
                f"Expected argument `{name}` to hold integers up to 2**53 only, but got {number!r} at index {index}."
            )
    return listed


def each_id_once(rows: Tensor) -> Tensor:
    """Rows in order of their ids, the first of each; those without an id follow as they came."""
    named = rows[~rows[:, 0].isnan()]
    named = named[named[:, 0].argsort(stable=True)]
    first = torch.ones(len(named), dtype=torch.bool, device=rows.device)
    first[1:] = named[1:, 0] != named[:-1, 0]
    kept = named[first]
    differing = ~torch.isclose(named, kept[first.cumsum(0) - 1]).all(1)
    if differing.any():
        rank_zero_warn(
            f"{int(differing.sum())} of {len(named)} examples have the id of another and different scores, id "
            f"{int(named[differing][0, 0])} among them; they are not counted. Ids have to tell all examples of an "
            "epoch apart, and the metric has to be reset between epochs."
        )
    return torch.cat([kept, rows[rows[:, 0].isnan()]])
