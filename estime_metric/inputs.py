"""Checks of what users pass in. Each error names the argument, the index, what was expected and
what came.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any


def check_texts(name: str, texts: Any) -> list[str]:
    """``texts`` as a list of strings; else TypeError, or ValueError for a lone surrogate, which no
    tokenizer takes.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError(
            f"Expected argument `{name}` to be a list of strings, but got one bare {type(texts).__name__}."
        )
    unordered = isinstance(texts, (Mapping, set, frozenset))
    # Iterating over a table gives its rows or the names of its columns; an array without axes
    # cannot be iterated over.
    if (
        unordered
        or not isinstance(texts, Iterable)
        or getattr(texts, "ndim", 1) != 1
        or hasattr(texts, "columns")
    ):
        hint = "; pass one of its columns" if hasattr(texts, "columns") else ""
        raise TypeError(
            f"Expected argument `{name}` to be a list of strings, but got {type(texts).__name__}{hint}."
        )
    checked = list(texts)
    for index, text in enumerate(checked):
        if not isinstance(text, str):
            came = f"{type(text).__name__} at index {index}"
            raise TypeError(f"Expected argument `{name}` to hold strings only, but got {came}.")
        _check_characters(name, text, f" at index {index}")
    return checked


def check_text(name: str, text: Any, index: int | None = None) -> str:
    """``text`` itself, if it is a string without lone surrogates (TypeError, ValueError); ``index``
    is its position.
    """
    position = "" if index is None else f" at index {index}"
    if not isinstance(text, str):
        raise TypeError(
            f"Expected argument `{name}` to be a str, but got {type(text).__name__}{position}."
        )
    _check_characters(name, text, position)
    return text


def _check_characters(name: str, text: str, position: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        came = f"the lone surrogate {text[error.start]!r}{position}"
        raise ValueError(
            f"Expected argument `{name}` to hold whole characters, but got {came}."
        ) from error


def check_pairs(
    predictions: Any, sources: Any, name: str = "predictions", origin: str = "sources"
) -> tuple[list[str], list[str]]:
    """Both sides as `check_texts`, of one length (ValueError), named ``name`` and ``origin`` in
    errors.
    """
    summaries, texts = check_texts(name, predictions), check_texts(origin, sources)
    if len(summaries) != len(texts):
        came = f"{len(summaries)} and {len(texts)}"
        raise ValueError(
            f"Expected arguments `{name}` and `{origin}` to be of one length, but got {came}."
        )
    return summaries, texts


def check_column(column: str, columns: Iterable[str]) -> None:
    """Refuses a table that lacks a column (ValueError)."""
    names = list(columns)
    if column not in names:
        raise ValueError(f"Expected a column {column!r}, but the columns are {', '.join(names)}.")


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Refuses a value that is not one of ``choices`` (ValueError)."""
    if value not in choices:
        listed = ", ".join(map(str, choices))
        raise ValueError(f"Expected argument `{name}` to be one of {listed}, but got {value!r}.")


def check_callable(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuses what is neither callable nor one of ``choices`` (ValueError)."""
    if not callable(value) and value not in choices:
        listed = ", ".join(choices)
        raise ValueError(
            f"Expected argument `{name}` to be one of {listed} or a callable, but got {value!r}."
        )


def check_name(name: str, value: Any) -> None:
    """Refuses what is not a string (TypeError), or blank (ValueError)."""
    if not isinstance(value, str):
        raise TypeError(f"Expected argument `{name}` to be a str, but got {type(value).__name__}.")
    if not value.strip():
        raise ValueError(f"Expected argument `{name}` to be a name, but got {value!r}.")


def integer(name: str, value: Any, least: int | None = None) -> int:
    """An integer of Python, NumPy or torch as Python's; refuses others (TypeError), and those below
    ``least``.
    """
    number = _as_integer(value)
    if number is None:
        raise TypeError(f"Expected argument `{name}` to be an integer, but got {value!r}.")
    if least is not None and number < least:
        raise ValueError(f"Expected argument `{name}` to be at least {least}, but got {value}.")
    return number


def check_schedule(window: Any, margin: Any, distance: Any) -> tuple[int, int, int]:
    """The three as integers, ``window`` more than twice ``margin``: else some position could never
    be masked.
    """
    margin, distance = integer("margin", margin, 0), integer("distance", distance, 1)
    window = integer("window", window, 1)
    if window <= 2 * margin:
        raise ValueError(
            f"Expected argument `window` to be more than twice `margin` ({margin}), but got {window}."
        )
    return window, margin, distance


def layer_tuple(layers: Any) -> tuple[int, ...] | str | None:
    """One layer or several as a tuple, ``None`` and ``"all"`` as they are; else TypeError or
    ValueError.
    """
    if layers is None or (isinstance(layers, str) and layers == "all"):
        return layers
    several = (
        isinstance(layers, Iterable)
        and not isinstance(layers, (str, bytes))
        and getattr(layers, "ndim", 1) > 0
    )
    numbers = [_as_integer(number) for number in (layers if several else (layers,))]
    found = tuple(number for number in numbers if number is not None)
    if len(found) < len(numbers):
        raise TypeError(
            f"Expected argument `layers` to be an integer or several, but got {layers!r}."
        )
    if not found:
        raise ValueError("Expected argument `layers` to name at least one layer, but got none.")
    if min(found) < 0:
        raise ValueError(
            f"Expected argument `layers` to hold no negative number, but got {layers!r}."
        )
    if len(set(found)) < len(found):
        raise ValueError(f"Expected argument `layers` to name each layer once, but got {layers!r}.")
    return found


def measure_tuple(measures: Any, choices: Sequence[str]) -> tuple[str, ...]:
    """One measure or several as a tuple, each once; refuses other types (TypeError) and other names
    (ValueError).
    """
    if not isinstance(measures, Iterable):
        raise TypeError(
            f"Expected argument `measures` to be a name or several, but got {measures!r}."
        )
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    for name in names:
        check_choice("measures", name, choices)
    return tuple(dict.fromkeys(names))


def tag_set(name: str, tags: Any) -> frozenset[str]:
    """Tags as a set; refuses one string, what is not iterable (TypeError), and tags that
    `check_name` refuses.
    """
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise TypeError(f"Expected argument `{name}` to be a set of tags, but got {tags!r}.")
    found = frozenset(tags)
    for tag in found:
        check_name(name, tag)
    return found


def dtype_name(dtype: Any, choices: Sequence[str]) -> str:
    """The name of a dtype, torch's or a string, one of ``choices`` (ValueError); imports no torch,
    which is slow.
    """
    name = str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype
    if name not in choices:
        raise ValueError(
            f"Expected argument `dtype` to be one of {', '.join(choices)}, but got {dtype!r}."
        )
    return str(name)


def _as_integer(value: Any) -> int | None:
    """An integer; ``None`` for anything else, also for a bool."""
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
