"""Texts in a language that a tokenizer was not made for."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from estime_metric.engine.text.units import Tokenizer, encode

_OF_EACH, _OF_ALL = 400, 4_000  # characters of each text, and of all together, that are looked at

#: Known letters in a token with a letter below which the language is foreign. With the embedded
#: encoder's English vocabulary 998 of 1,000 English summaries of FRANK have 3 and more, texts in
#: German, French and Spanish 2.4 to 2.8, in other scripts 1.1 at most.
_LEAST_LETTERS, _LEAST_LETTERS_ELSEWHERE = 3.0, 1.3

_LEAST_TOKENS = (
    20  # with a letter, below which no warning is issued: a few names do not identify a language
)
_ENOUGH_TOKENS = 100  # with a letter, from which on no later text is looked at
_LEAST_VOCABULARY = 10_000  # a smaller one splits words of any language into pieces
_LEAST_ENTRIES = (
    1_000  # of a vocabulary that knows a script by single characters; that one has 492 Chinese ones
)
_LATIN = "LATIN"


def foreign_language(texts: Sequence[str], tokenizer: Tokenizer) -> str | None:
    """What says that a tokenizer was not made for the language of most texts; an empty text if it was,
    and ``None`` if the texts are too short to decide.

    An encoder for another language splits words into pieces or does not know the letters. One is
    not suspected if its vocabulary was made for more languages than it was trained on.
    """
    if tokenizer.vocab_size < _LEAST_VOCABULARY:
        return ""
    looked_at = _beginnings(texts)
    script = _main_script(looked_at)
    if script is None:
        return None
    tokens, known = _tokens_and_known_letters(looked_at, tokenizer)
    enough = _LEAST_LETTERS if script == _LATIN else _LEAST_LETTERS_ELSEWHERE
    if known >= enough * tokens:
        return "" if tokens >= _ENOUGH_TOKENS else None
    if tokens < _LEAST_TOKENS:
        return None
    if script != _LATIN and _entries_of(script, tokenizer) >= _LEAST_ENTRIES:
        return ""
    return f"its tokens cover {known / tokens:.1f} known letters on average"


def _beginnings(texts: Sequence[str]) -> list[str]:
    """What is looked at of each of the first texts."""
    beginnings: list[str] = []
    left = _OF_ALL
    for text in texts:
        if left <= 0:
            break
        beginnings.append(text[: min(_OF_EACH, left)])
        left -= len(beginnings[-1])
    return beginnings


def _main_script(texts: Sequence[str]) -> str | None:
    """The script of most letters; ``None`` if there is no letter."""
    characters = Counter(character for text in texts for character in text)
    scripts: Counter[str] = Counter()
    for character, count in characters.items():
        if character.isalpha():
            scripts[_script(character)] += count
    return scripts.most_common(1)[0][0] if scripts else None


def _tokens_and_known_letters(texts: Sequence[str], tokenizer: Tokenizer) -> tuple[int, int]:
    """How many tokens have a letter, and how many letters are in tokens that are not special."""
    special = set(tokenizer.all_special_ids)
    tokens = known = 0
    for text, (ids, spans) in zip(texts, encode(texts, tokenizer), strict=True):
        for token, (start, stop) in zip(ids, spans, strict=True):
            letters = sum(map(str.isalpha, text[start:stop]))
            tokens += letters > 0
            known += letters if token not in special else 0
    return tokens, known


def _entries_of(script: str, tokenizer: Tokenizer) -> int:
    """How many entries of the vocabulary have a letter of a script."""
    vocabulary = tokenizer.get_vocab()
    letters = {letter for letter in set().union(*vocabulary) if _script(letter) == script}
    return sum(not letters.isdisjoint(entry) for entry in vocabulary)


def _script(letter: str) -> str:
    """The script of a letter, as its Unicode name begins: ``LATIN``, ``CJK``."""
    return unicodedata.name(letter, "?").split()[0]
