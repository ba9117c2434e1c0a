"""Values of options in their usual forms: an integer of NumPy, one name for several. Others are refused by name."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from estime_metric.inputs import check_choice


def layer_tuple(layers: Any) -> tuple[int, ...] | str | None:
    """One layer or several as a tuple; ``None`` and ``"all"`` as they are.

    Raises:
        TypeError, ValueError: a layer that is no integer, is negative or comes twice; no layer.
    """
    if layers is None or (isinstance(layers, str) and layers == "all"):
        return layers
    several = isinstance(layers, Iterable) and not isinstance(layers, (str, bytes)) and getattr(layers, "ndim", 1) > 0
    numbers = tuple(_as_integer(number) for number in (layers if several else (layers,)))
    if None in numbers:
        raise TypeError(f"Expected argument `layers` to be an integer or several, but got {layers!r}.")
    found = tuple(number for number in numbers if number is not None)
    if not found:
        raise ValueError("Expected argument `layers` to name at least one layer, but got none.")
    if min(found) < 0:
        raise ValueError(f"Expected argument `layers` to hold no negative number, but got {layers!r}.")
    if len(set(found)) < len(found):
        raise ValueError(f"Expected argument `layers` to name each layer once, but got {layers!r}.")
    return found


def measure_tuple(measures: Any, choices: Sequence[str]) -> tuple[str, ...]:
    """One measure or several as a tuple, each once.

    Raises:
        TypeError: neither a name nor several.
        ValueError: one that is not among ``choices``.
    """
    if not isinstance(measures, Iterable):
        raise TypeError(f"Expected argument `measures` to be a name or several, but got {measures!r}.")
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    for name in names:
        check_choice("measures", name, choices)
    return tuple(dict.fromkeys(names))


def tag_set(name: str, tags: Any) -> frozenset[str]:
    """Tags as a set.

    Raises:
        TypeError, ValueError: it is one string or no iterable, or a tag is blank or no string.
    """
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise TypeError(f"Expected argument `{name}` to be a set of tags, but got {tags!r}.")
    found = frozenset(tags)
    for tag in found:
        check_name(name, tag)
    return found


def dtype_name(dtype: Any, choices: Sequence[str]) -> str:
    """The name of a dtype; torch's own are recognized by theirs, since importing torch is slow.

    Raises:
        ValueError: it is not among ``choices``.
    """
    name = str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype
    if name not in choices:
        raise ValueError(f"Expected argument `dtype` to be one of {', '.join(choices)}, but got {dtype!r}.")
    return str(name)


def integer(name: str, value: Any, least: int) -> int:
    """An integer of Python, NumPy or torch as Python's.

    Raises:
        TypeError, ValueError: it is none, or below ``least``.
    """
    number = _as_integer(value)
    if number is None:
        raise TypeError(f"Expected argument `{name}` to be an integer, but got {value!r}.")
    if number < least:
        raise ValueError(f"Expected argument `{name}` to be at least {least}, but got {value}.")
    return number


def check_name(name: str, value: Any) -> None:
    """Refuses what is no string (TypeError), or a blank one (ValueError)."""
    if not isinstance(value, str):
        raise TypeError(f"Expected argument `{name}` to be a str, but got {type(value).__name__}.")
    if not value.strip():
        raise ValueError(f"Expected argument `{name}` to be a name, but got {value!r}.")


def check_callable(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuses what is neither callable nor among ``choices`` (ValueError)."""
    if not callable(value) and value not in choices:
        raise ValueError(
            f"Expected argument `{name}` to be one of {', '.join(choices)} or a callable, but got {value!r}."
        )


def _as_integer(value: Any) -> int | None:
    """An integer; ``None`` for anything else, also for a bool."""
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
