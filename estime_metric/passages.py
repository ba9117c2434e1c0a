"""Sources in passages, such as the results of a search: a list of texts, or of dictionaries with ``id`` and
``text``. They are scored as one text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

#: Warning of sources that `looks_like_list` finds.
LIKE_LISTS = (
    "Sources that look like lists are read as text, with their brackets and quotation marks. Pass lists, "
    "which CSV does not have but JSON Lines and Parquet do."
)

_LIKE_LIST = re.compile(r"""\[\s*(?:"(?s:.*)"|'(?s:.*)'|\{\s*["'](?s:.*)\})\s*\]""")

#: A source as it can be passed: one text, or its passages.
Source: TypeAlias = str | list[str] | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a source: the span ``source[start:end]``, in characters.

    Attributes:
        id: its index in the list, from 0, or the ``id`` of its dictionary.
    """

    id: int | str
    start: int
    end: int


def passages_of(source: Any) -> tuple[Passage, ...]:
    """The passages of a source that is a valid list; none of a source that is one text.

    Example:
        >>> passages_of(["A dog.", {"id": "b7", "text": "A cat."}])
        (Passage(id=0, start=0, end=6), Passage(id='b7', start=7, end=13))
    """
    passages, start = [], 0
    for index, passage in enumerate(source if isinstance(source, list) else []):
        end = start + len(_text_of(passage))
        name = passage["id"] if isinstance(passage, dict) else index
        passages.append(Passage(name, start, end))
        start = end + len("\n")
    return tuple(passages)


def joined(source: Any) -> Any:
    """A source that is a valid list of passages as one text, joined by line breaks; anything else as it is.

    Example:
        >>> joined(["Anna sold a boat.", {"id": "b7", "text": "Peter flew."}])
        'Anna sold a boat.\\nPeter flew.'
    """
    if not isinstance(source, list) or passage_problem(source):
        return source
    return "\n".join(map(_text_of, source))


def looks_like_list(source: str) -> bool:
    """Whether a source that is one text looks like a list of passages that was written as text.

    Example:
        >>> [looks_like_list(text) for text in ('["a", "b"]', "['a']", "[1] A list of [notes]")]
        [True, True, False]
    """
    return _LIKE_LIST.fullmatch(source.strip()) is not None


def passage_problem(source: Any) -> str:
    """What is wrong with the passages of a source that is a list, as the end of a sentence; empty if nothing
    is.
    """
    for passage in source if isinstance(source, list) else []:
        if not isinstance(_text_of(passage), str):
            return f"the list contains an element of type {type(passage).__name__}" + (
                " without the keys 'id' (text or an integer) and 'text'"
                if isinstance(passage, dict)
                else ""
            )
    return ""


def _text_of(passage: Any) -> Any:
    """The text of a passage; ``None`` for a dictionary without an id."""
    if not isinstance(passage, dict):
        return passage
    return passage.get("text") if isinstance(passage.get("id"), (int, str)) else None
