"""Checks of what users pass in, shared by every front end: the argument, the index, what was expected, what came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def check_texts(name: str, texts: Any) -> list[str]:
    """``texts`` as a list of strings.

    Raises:
        TypeError: ``texts`` is a bare string or no iterable, or an entry is no string; the message names its index.
        ValueError: an entry holds half a character (a lone surrogate), which no tokenizer takes; likewise.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"Expected argument `{name}` to be a list of strings, but got one bare {type(texts).__name__}.")
    if not isinstance(texts, Iterable):
        raise TypeError(f"Expected argument `{name}` to be a list of strings, but got {type(texts).__name__}.")
    checked = list(texts)
    for index, text in enumerate(checked):
        if not isinstance(text, str):
            raise TypeError(
                f"Expected argument `{name}` to hold strings only, but got {type(text).__name__} at index {index}."
            )
        _check_characters(name, text, f" at index {index}")
    return checked


def check_text(name: str, text: Any, index: int | None = None) -> str:
    """``text`` itself, if it is a string; ``index`` is its place among others, if it has one.

    Raises:
        TypeError: it is none.
        ValueError: it holds half a character (a lone surrogate).
    """
    place = "" if index is None else f" at index {index}"
    if not isinstance(text, str):
        raise TypeError(f"Expected argument `{name}` to be a str, but got {type(text).__name__}{place}.")
    _check_characters(name, text, place)
    return text


def check_pairs(
    predictions: Any, sources: Any, name: str = "predictions", origin: str = "sources"
) -> tuple[list[str], list[str]]:
    """Both sides as lists of strings of one length; ``name`` and ``origin`` are what the front end calls them.

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


def _check_characters(name: str, text: str, place: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Expected argument `{name}` to hold whole characters, "
            f"but got the lone surrogate {text[error.start]!r}{place}."
        ) from error
