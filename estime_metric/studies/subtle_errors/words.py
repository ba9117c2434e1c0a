"""Whole words: which tokens of a text are one, and which predicted tokens may stand in for one.

Axes: ``p`` tokens of a text.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Any

from estime_metric.engine.text import Units
from estime_metric.engine.words import locate_words, split_words
from estime_metric.studies.subtle_errors.records import Span


@dataclass(frozen=True, slots=True)
class WholeWord:
    """A word of a text that is one token: the token's position and the word's characters."""

    position: int
    span: Span


def whole_words(text: str, units: Units) -> list[WholeWord]:
    """The words of a text that are a single token each, from left to right; ``units`` are its tokens.

    A word is a run of letters and digits with the marks on them, held together by inner hyphens, apostrophes, points
    and commas, as `estime_metric.engine.words.split_words` finds it. It is a whole word where exactly one token touches
    it, that token touches nothing else and is not the unknown one. Punctuation, emoji and other symbols are no words. A
    word that an invisible character joins to its neighbour (zero-width joiner, soft hyphen) is part of one.
    """
    spans = [(start, stop) for start, stop in units.spans.tolist()]
    found = []
    low = 0
    for start, stop in locate_words(text, split_words(text)):
        while low < len(spans) and spans[low][1] <= start:
            low += 1
        touching = [position for position in range(low, min(low + 2, len(spans))) if spans[position][0] < stop]
        if len(touching) != 1 or not is_word(text[start:stop]) or _joined(text, start, stop):
            continue
        (position,) = touching
        if start <= spans[position][0] and spans[position][1] <= stop and units.known[position]:
            found.append(WholeWord(position, (start, stop)))
    return found


def is_word(text: str) -> bool:
    """Whether a text is exactly one word and has a letter or a digit in it.

    Example:
        >>> [is_word(text) for text in ("tree", "1874", "##ing", "a b", ".", "", "\\ufffd")]
        [True, True, False, False, False, False, False]
    """
    return split_words(text) == [text] and any(char.isalnum() for char in text)


def same_word(one: str, other: str) -> bool:
    """Whether two words differ in nothing but capitals, accents and compatible forms of their letters.

    Example:
        >>> same_word("Café", "cafe"), same_word("cat", "cats")
        (True, False)
    """
    return _plain(one) == _plain(other)


def ignores_case(tokenizer: Any) -> bool:
    """Whether capitals make no difference to a tokenizer."""
    letters = " ".join("abcdefghijklmnopqrstuvwxyz")
    tokens = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in (letters, letters.upper())]
    return bool(tokens[0] == tokens[1])


def with_case_of(word: str, model: str) -> str:
    """A lower-case word with the capitals of another: all, the first one, or none. A letter whose capital is more
    than one letter keeps it small.

    Example:
        >>> [with_case_of("dog", model) for model in ("Cats", "NATO", "A", "iPad")]
        ['Dog', 'DOG', 'Dog', 'dog']
    """
    if len(model) > 1 and model.isupper():
        changed = word.upper()
    elif model[:1].isupper():
        changed = word[:1].upper() + word[1:]
    else:
        return word
    return changed if len(changed) == len(word) and changed.lower() == word else word


def shuffled(words: list[WholeWord], text: str, seed: int) -> list[WholeWord]:
    """The words in a random order that depends only on the seed and the text, on every machine and in every version."""
    digest = hashlib.sha256(f"{seed}\0{text}".encode())

    def key(word: WholeWord) -> bytes:
        own = digest.copy()
        own.update(f"\0{word.span[0]}".encode())
        return own.digest()

    return sorted(words, key=key)


def _joined(text: str, start: int, stop: int) -> bool:
    """Whether an invisible character stands right before or behind a word."""
    return any(unicodedata.category(char) == "Cf" for char in (text[max(0, start - 1) : start] + text[stop : stop + 1]))


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))
