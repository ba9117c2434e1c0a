"""Does the encoder know the language of these texts? Read off how its tokenizer cuts them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from estime_metric.engine.text import Tokenizer, encode

#: What is looked at: so many characters of each text, and of all together.
_OF_EACH, _OF_ALL = 400, 4_000

#: Tokens with a letter below which nothing is said: a few names tell no language.
_LEAST_TOKENS = 20

#: Known letters in such a token below which the language is foreign. With the embedded encoder's English vocabulary
#: 998 of 1,000 English summaries of FRANK have 3 and more, texts in German, French and Spanish 2.4 to 2.8, in other
#: scripts 1.1 at most.
_LEAST_LETTERS, _LEAST_LETTERS_ELSEWHERE = 3.0, 1.3

#: A smaller vocabulary cuts words of any language into pieces.
_LEAST_VOCABULARY = 10_000

#: Entries of a vocabulary that knows a script by single characters; that one has 492 Chinese ones.
_LEAST_ENTRIES = 1_000


def foreign_language(texts: Sequence[str], tokenizer: Tokenizer) -> str | None:
    """What says that a tokenizer was not made for the language of most texts; ``None`` where nothing does.

    It then cuts their words into pieces, or does not know the letters. The beginnings of the first texts are looked at.
    Of less than 20 tokens it says nothing, nor where one vocabulary was made for several languages and the encoder
    trained on fewer.
    """
    looked_at: list[str] = []
    left = _OF_ALL
    for text in texts:
        looked_at.append(text[: min(_OF_EACH, left)])
        left -= len(looked_at[-1])
        if left <= 0:
            break
    scripts = Counter(_script(letter) for text in looked_at for letter in text if letter.isalpha())
    if not scripts or tokenizer.vocab_size < _LEAST_VOCABULARY:
        return None
    tokens = known = 0
    for text, (ids, spans) in zip(looked_at, encode(looked_at, tokenizer), strict=True):
        for token, (start, stop) in zip(ids, spans, strict=True):
            letters = sum(map(str.isalpha, text[start:stop]))
            tokens += letters > 0
            known += letters * (token not in tokenizer.all_special_ids)
    (script, _), *_ = scripts.most_common(1)
    enough = _LEAST_LETTERS if script == "LATIN" else _LEAST_LETTERS_ELSEWHERE
    if tokens < _LEAST_TOKENS or known >= enough * tokens:
        return None
    if script != "LATIN":
        entries = sum(any(_script(letter) == script for letter in entry) for entry in tokenizer.get_vocab())
        if entries >= _LEAST_ENTRIES:
            return None
    return f"its tokens hold {known / tokens:.1f} known letters on average"


def _script(letter: str) -> str:
    """The script of a letter, as its Unicode name begins: ``LATIN``, ``CJK``."""
    return unicodedata.name(letter, "?").split()[0]
