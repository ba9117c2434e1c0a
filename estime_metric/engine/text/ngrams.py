"""Texts -> shares of new n-grams: how much of a summary's wording its source lacks; no encoder is needed."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

#: The longest n-grams that are counted.
LONGEST = 3

Ngram = tuple[str, ...]


def lower_words(text: str) -> list[str]:
    """The words of a text: runs of letters, digits and ``_``, lower-cased, in Unicode form NFC.

    Example:
        >>> lower_words("It's 1,200 well-kept cars.")
        ['it', 's', '1', '200', 'well', 'kept', 'cars']
    """
    return re.findall(r"\w+", unicodedata.normalize("NFC", text).lower())


def ngrams(words: list[str], size: int) -> list[Ngram]:
    """The runs of ``size`` words, in order; none if there are fewer words."""
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]


@dataclass(frozen=True)
class SourceNgrams:
    """The n-grams of a source, prepared once for all of its summaries.

    Attributes:
        known: for each size from 1 to `LONGEST`, the n-grams that occur.
    """

    known: dict[int, frozenset[Ngram]]

    @classmethod
    def of(cls, source: str) -> SourceNgrams:
        """The n-grams of a text."""
        words = lower_words(source)
        return cls({size: frozenset(ngrams(words, size)) for size in range(1, LONGEST + 1)})

    def new_shares(self, summary: str) -> tuple[float, ...]:
        """The shares of the summary's words, bigrams and trigrams that the source lacks.

        Each is between 0 (all occur in the source) and 1 (none does), and each occurrence counts. A
        summary that is shorter than n words has the share of the next shorter n-grams; a summary
        without words has 1 throughout.

        Example:
            >>> SourceNgrams.of("The red dog sat.").new_shares("A red dog sat")
            (0.25, 0.3333333333333333, 0.5)
        """
        words = lower_words(summary)
        shares: list[float] = []
        for size in range(1, LONGEST + 1):
            runs = ngrams(words, size)
            if runs:
                shares.append(sum(run not in self.known[size] for run in runs) / len(runs))
            else:
                shares.append(shares[-1] if shares else 1.0)
        return tuple(shares)
