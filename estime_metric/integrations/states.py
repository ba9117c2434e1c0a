"""What the states of `ESTIME` hold besides sums: ids, each counted once, and what configuration they belong to."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from estime_metric.config import EstimeConfig

#: Greatest integer up to which every integer is a float64 of its own.
GREATEST_ID = 2**53


def id_numbers(ids: Any, number: int) -> list[float]:
    """The ids of so many summaries, NaN for each where there are none."""
    if ids is None:
        return [math.nan] * number
    found: list[float] = [*_integers("ids", ids)]
    if len(found) != number:
        raise ValueError(
            f"Expected arguments `ids` and `preds` to be of one length, but got {len(found)} and {number}."
        )
    return found


def chosen_rows(indices: Any, number: int) -> list[int]:
    """The indices of some of so many summaries."""
    found = _integers("indices", indices)
    for index in found:
        if not 0 <= index < number:
            raise ValueError(f"Expected argument `indices` to lie within 0..{number - 1}, but got {index}.")
    return found


def _integers(name: str, numbers: Any) -> list[int]:
    """The integers in a tensor of one axis or in a sequence; none may be too large for float64."""
    if not isinstance(numbers, Iterable) or isinstance(numbers, (str, bytes)) or getattr(numbers, "ndim", 1) != 1:
        raise TypeError(f"Expected argument `{name}` to be a list or a tensor of integers, but got {numbers!r}.")
    listed = list(numbers.tolist() if isinstance(numbers, Tensor) else numbers)
    for index, number in enumerate(listed):
        if isinstance(number, Tensor) and number.ndim == 0:
            listed[index] = number = number.item()
        if isinstance(number, bool) or not hasattr(number, "__index__") or abs(number) > GREATEST_ID:
            raise ValueError(
                f"Expected argument `{name}` to hold integers up to 2**53 only, but got {number!r} at index {index}."
            )
    return listed


def each_id_once(rows: Tensor) -> tuple[Tensor, list[int]]:
    """Of rows with an id or NaN and then numbers, (n, 1 + k), the first of each id in order of the ids, and behind
    them those without an id as they came; and the ids of rows left out whose numbers differ from the first.
    """
    named = rows[~rows[:, 0].isnan()]
    named = named[named[:, 0].argsort(stable=True)]
    first = torch.ones(len(named), dtype=torch.bool, device=rows.device)
    first[1:] = named[1:, 0] != named[:-1, 0]
    kept = named[first]
    differing = ~torch.isclose(named, kept[first.cumsum(0) - 1], equal_nan=True).all(1)
    return torch.cat([kept, rows[rows[:, 0].isnan()]]), [int(number) for number in named[differing, 0]]


def fingerprint(config: EstimeConfig, signature: str, *more: object) -> Tensor:
    """The bytes of a digest of whatever tells states apart, float64 of shape (32,); NaN for a configuration that holds
    a function. The signature is that of a loaded encoder: machines may have different commits of one model.
    """
    if callable(config.splitter) or callable(config.tagger):
        return torch.full((32,), torch.nan, dtype=torch.float64)
    digest = hashlib.sha256(repr((signature, *more)).encode()).digest()
    return torch.tensor(list(digest), dtype=torch.float64)
