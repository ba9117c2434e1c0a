"""Text -> words, with their positions and parts of speech.

Word splitters and taggers are plain callables; NLTK's are looked up by name and need the extra
``nltk``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import regex

from estime_metric._messages import needs_extra

#: Text -> its words, in order. A word may differ from the text if the splitter rewrites it (NLTK's
#: quotes).
Splitter = Callable[[str], Sequence[str]]

#: Words -> a tag for each, or a pair (word, tag) for each as ``nltk.pos_tag`` returns.
Tagger = Callable[[list[str]], Sequence[Any]]

Span = tuple[int, int]

#: Letters and digits as Python's ``str.isalnum`` has them, each with the marks that join it:
#: accents of decomposed letters, vowel signs, emoji variants.
_RUN = r"[\p{L}\p{N}_][\p{L}\p{N}_\p{M}]*"

_WORD = regex.compile(rf"{_RUN}(?:[-'\u2019.,]{_RUN})*|[^\p{{L}}\p{{N}}_\s\x1c-\x1f]\p{{M}}*")

#: How many words that follow a word tell whether the splitter rewrote it.
_LOOKAHEAD = 3

_REWRITTEN = {"``": ('"', "''", "\u201c"), "''": ('"', "\u201d")}  # of quotation marks, by NLTK


def split_words(text: str) -> list[str]:
    """The default splitter: runs of letters and digits, joined by inner hyphens, apostrophes,
    points and commas; any other character is a separate word, together with the marks (accents)
    that follow it. It does not depend on the language.

    Example:
        >>> split_words("It's 1,200 well-kept cars (U.S. made).")
        ["It's", '1,200', 'well-kept', 'cars', '(', 'U.S', '.', 'made', ')', '.']
    """
    words: list[str] = _WORD.findall(text)
    return words


def find_splitter(splitter: str | Splitter) -> Splitter:
    """The callable behind ``"regex"``, ``"nltk"`` or a callable itself; `ImportError` without NLTK
    names the extra.
    """
    if not isinstance(splitter, str):
        return splitter
    if splitter == "regex":
        return split_words
    nltk = _import_nltk()
    return lambda text: list(_with_data(nltk.word_tokenize, text))


def find_tagger(tagger: str | Tagger) -> Tagger:
    """The callable behind ``"nltk"`` or a callable itself; `ImportError` without NLTK names the
    extra.
    """
    if not isinstance(tagger, str):
        return tagger
    nltk = _import_nltk()
    return lambda words: [tag for _, tag in _with_data(nltk.pos_tag, words)]


def tags_of(words: list[str], tagger: Tagger) -> list[str]:
    """One tag for each word; `ValueError` if the tagger returns a different number of tags, and
    `TypeError` if one is neither a string nor a pair of strings.
    """
    tags = [_tag_of(tagged) for tagged in tagger(words)]
    if len(tags) != len(words):
        wanted = f"a tag for each of {len(words)} words"
        raise ValueError(f"Expected argument `tagger` to return {wanted}, but got {len(tags)}.")
    return tags


def _tag_of(tagged: Any) -> str:
    tag = tagged[1] if isinstance(tagged, (tuple, list)) and len(tagged) == 2 else tagged
    if not isinstance(tag, str):
        wanted = "a tag for each word, a string, or a pair of the word and its tag"
        raise TypeError(f"Expected argument `tagger` to return {wanted}, but got {tagged!r}.")
    return tag


def locate_words(text: str, words: Sequence[str]) -> list[Span]:
    """The characters of each word, found from left to right, without the white space around it.

    A splitter may rewrite: words in other capitals and NLTK's quotation marks are found. Any other
    word gets an empty span at the current position, if it does not occur in the rest of the text or
    only after one of the words that follow it.
    """
    spans = []
    cursor = 0
    wanted = [word.strip() for word in words]
    for number, word in enumerate(wanted):
        start, length = _find(text, word, cursor)
        following = wanted[number + 1 : number + 1 + _LOOKAHEAD]
        if any(_occurs(text[cursor:start], later) for later in following):
            start, length = _find(text, "", cursor)
        cursor = start + length
        spans.append((start, cursor))
    return spans


def decompose(text: str) -> tuple[str, list[int]]:
    """``text`` in Unicode form NFKD, as in the released code, and for each of its characters (and
    for its end) the position in ``text`` that it comes from.
    """
    if text.isascii():
        return text, list(range(len(text) + 1))
    parts: list[str] = []
    positions: list[int] = []
    start = 0
    while start < len(text):
        stop = start + 1
        while stop < len(text) and unicodedata.combining(
            unicodedata.normalize("NFKD", text[stop])[0]
        ):
            stop += 1
        part = unicodedata.normalize("NFKD", text[start:stop])
        parts.append(part)
        positions += range(start, stop) if part == text[start:stop] else [start] * len(part)
        start = stop
    return "".join(parts), [*positions, len(text)]


def locate_in(text: str, splitter: Splitter) -> tuple[list[str], list[Span]]:
    """The words of ``text`` in Unicode form NFKD, and the characters of each in the text as it
    came; `TypeError` if the splitter returns something else than strings.
    """
    decomposed, positions = decompose(text)
    words = list(splitter(decomposed))
    for word in words:
        if not isinstance(word, str):
            raise TypeError(
                f"Expected argument `splitter` to return the words of a text, strings, but got {word!r}."
            )
    spans = [
        (
            positions[start],
            max(positions[end], positions[end - 1] + 1) if end > start else positions[start],
        )
        for start, end in locate_words(decomposed, words)
    ]
    return words, spans


def _find(text: str, word: str, cursor: int) -> tuple[int, int]:
    """Where ``word`` begins at or after ``cursor``, and how long it is there."""
    while word and cursor < len(text) and text[cursor].isspace():
        cursor += 1
    if text[cursor : cursor + len(word)].lower() == word.lower():
        return cursor, len(word)
    places = [(text.find(form, cursor), len(form)) for form in (word, *_REWRITTEN.get(word, ()))]
    return min(((start, length) for start, length in places if start >= 0), default=(cursor, 0))


def _occurs(text: str, word: str) -> bool:
    """Whether ``word`` is in ``text``, not as a part of a longer word."""
    start = text.find(word) if word else -1
    while start >= 0:
        around = text[max(0, start - 1) : start] + text[start + len(word) :][:1]
        if not any(character.isalnum() for character in around):
            return True
        start = text.find(word, start + 1)
    return False


def _import_nltk() -> Any:
    with needs_extra("nltk", "The splitter and tagger 'nltk' need NLTK"):
        import nltk
    return nltk


def _with_data(function: Callable[[Any], Any], argument: Any) -> Any:
    try:
        return function(argument)
    except LookupError as error:
        data = "nltk.download('punkt_tab') and, for the tagger, nltk.download('averaged_perceptron_tagger_eng')"
        raise LookupError(f"NLTK data is missing. Run {data} once.") from error
