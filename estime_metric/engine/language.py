"""Whether texts are in English, the language of the bundled encoders."""

from __future__ import annotations

from collections.abc import Sequence

from estime_metric.engine.units import Tokenizer, encode

_TEXTS, _CHARACTERS = 100, 400  # how many texts are read, and how much of each

#: Known letters per token with a letter below which a text is not English: a vocabulary of English
#: cuts other languages into pieces. With the bundled encoders, 998 of 1,000 English summaries of
#: FRANK have 3 and more, texts in German, French and Spanish 2.4 to 2.8, in other scripts 1.1 at most.
_LEAST_LETTERS = 3.0

_LEAST_TOKENS = 20  # with a letter, below which texts pass: a few names are in any language


def is_foreign(texts: Sequence[str], tokenizer: Tokenizer) -> bool:
    """Whether texts are in another language than English, the language of the tokenizer."""
    beginnings = [text[:_CHARACTERS] for text in texts[:_TEXTS]]
    special = set(tokenizer.all_special_ids)
    tokens = known = 0
    for text, (ids, spans) in zip(beginnings, encode(beginnings, tokenizer), strict=True):
        for token, (start, stop) in zip(ids, spans, strict=True):
            letters = sum(map(str.isalpha, text[start:stop]))
            tokens += letters > 0
            known += letters if token not in special else 0
    return tokens >= _LEAST_TOKENS and known < _LEAST_LETTERS * tokens
