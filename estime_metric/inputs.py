"""Checks of what users pass in, shared by every entry point: the argument, the index, what was expected, what came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def check_texts(name: str, texts: Any) -> list[str]:
    """``texts`` as a list of strings.

    Raises:
        TypeError: ``texts`` is a bare string, a table, a dictionary, a set or no iterable, or an entry is no string;
            the message names its index.
        ValueError: an entry holds half a character (a lone surrogate), which no tokenizer takes; likewise.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"Expected argument `{name}` to be a list of strings, but got one bare {type(texts).__name__}.")
    unordered = isinstance(texts, (Mapping, set, frozenset))
    # Arrays and tables: a table's rows would be taken for texts, or its column names; an array of no axis has no rows.
    if unordered or not isinstance(texts, Iterable) or getattr(texts, "ndim", 1) != 1 or hasattr(texts, "columns"):
        hint = "; pass one of its columns" if hasattr(texts, "columns") else ""
        raise TypeError(f"Expected argument `{name}` to be a list of strings, but got {type(texts).__name__}{hint}.")
    checked = list(texts)
    for index, text in enumerate(checked):
        if not isinstance(text, str):
            raise TypeError(
                f"Expected argument `{name}` to hold strings only, but got {type(text).__name__} at index {index}."
            )
        _check_characters(name, text, f" at index {index}")
    return checked


def check_column(column: str, columns: Iterable[str]) -> None:
    """Refuses a table that lacks a column (ValueError)."""
    names = list(columns)
    if column not in names:
        raise ValueError(f"Expected a column {column!r}, but the columns are {', '.join(names)}.")


def check_text(name: str, text: Any, index: int | None = None) -> str:
    """``text`` itself, if it is a string; ``index`` is its position among others, if it has one.

    Raises:
        TypeError: it is none.
        ValueError: it holds half a character (a lone surrogate).
    """
    position = "" if index is None else f" at index {index}"
    if not isinstance(text, str):
        raise TypeError(f"Expected argument `{name}` to be a str, but got {type(text).__name__}{position}.")
    _check_characters(name, text, position)
    return text


def check_pairs(
    predictions: Any, sources: Any, name: str = "predictions", origin: str = "sources"
) -> tuple[list[str], list[str]]:
    """Both sides as lists of strings of one length; ``name`` and ``origin`` are what its caller calls them.

    Raises:
        TypeError: as `check_texts`.
        ValueError: the lengths differ.
    """
    summaries, texts = check_texts(name, predictions), check_texts(origin, sources)
    if len(summaries) != len(texts):
        raise ValueError(
            f"Expected arguments `{name}` and `{origin}` to be of one length, "
            f"but got {len(summaries)} and {len(texts)}."
        )
    return summaries, texts


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuses a value that is none of ``choices``.

    Raises:
        ValueError: the message names argument, choices and value.
    """
    if value not in choices:
        listed = ", ".join(map(str, choices))
        raise ValueError(f"Expected argument `{name}` to be one of {listed}, but got {value!r}.")


def _check_characters(name: str, text: str, position: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Expected argument `{name}` to hold whole characters, "
            f"but got the lone surrogate {text[error.start]!r}{position}."
        ) from error
