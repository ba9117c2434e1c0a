"""Whether texts are in English, the language of the bundled encoders."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from estime_metric.engine.units import IntArray, Units

#: Known letters per token with a letter below which texts are not English: a vocabulary of English
#: cuts other languages into pieces. With the bundled encoders, English summaries of FRANK have 3 and
#: more, texts in German, French and Spanish 2.4 to 2.8, in other scripts 1.1 at most. One token is
#: not counted, so that a short text needs fewer; of 5,277 English sentences, 18 are taken for others.
_LEAST_LETTERS = 3.0
_LEAST_TOKENS = 8  # with a letter, below which texts pass: a few names are in any language

_LETTERS_TO_KNOW = 20  # from which on most have to lie in known tokens


@dataclass(slots=True)
class Letters:
    """How a tokenizer cuts the letters of some texts.

    Attributes:
        tokens: tokens with a letter.
        letters: all letters.
        known: letters in tokens that are not special, such as the unknown token.
    """

    tokens: int = 0
    letters: int = 0
    known: int = 0

    def add(self, units: Units, special_ids: Collection[int]) -> None:
        """Counts the units of one more text."""
        text = units.text
        starts, stops = units.spans.T
        letters = _sums(np.fromiter(map(str.isalpha, text), np.int64, len(text)), starts, stops)
        alnum = _sums(np.fromiter(map(str.isalnum, text), np.int64, len(text)), starts, stops)
        # Within a word, what is not alphanumeric, such as a hyphen, is a token without letters.
        tokens = np.maximum(units.stop - units.first - (stops - starts - alnum), 1)
        is_special = np.isin(units.tokens, list(special_ids)).astype(np.int64)
        known = letters[_sums(is_special, units.first, units.stop) == 0]
        self.tokens += int(tokens[letters > 0].sum())
        self.letters += int(letters.sum())
        self.known += int(known.sum())

    @property
    def are_foreign(self) -> bool:
        """Whether the texts are in another language than English, the language of the tokenizer."""
        if self.letters >= _LETTERS_TO_KNOW and 2 * self.known < self.letters:
            return True
        return self.tokens >= _LEAST_TOKENS and self.known < _LEAST_LETTERS * (self.tokens - 1)


def _sums(values: IntArray, starts: IntArray, stops: IntArray) -> IntArray:
    """The sum of ``values[start:stop]`` for each start and stop."""
    up_to = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    sums: IntArray = up_to[stops] - up_to[starts]
    return sums
