"""Texts -> shares of new n-grams: how much of a summary's wording its source lacks; no encoder is needed."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import regex

#: The longest n-grams that are counted.
LONGEST = 3

Ngram = tuple[str, ...]


#: Scripts without spaces between words: each character of theirs is a word.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

#: A character of such a script with its marks, or a run of other letters, digits, marks and ``_``.
_WORD = regex.compile(rf"[{_UNSPACED}]\p{{M}}*|(?:(?![{_UNSPACED}])[\p{{L}}\p{{N}}\p{{M}}_])+")


#: Characters that are not shown, and which the tokenizers of encoders drop: the soft hyphen, spaces
#: without width, marks of direction.
_INVISIBLE = dict.fromkeys(
    [0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF]
)


def lower_words(text: str) -> list[str]:
    """The words of a text, lower-cased, in Unicode form NFC and without characters that are not
    shown: runs of letters, digits and ``_``; in scripts without spaces, such as Chinese, single
    characters.

    Example:
        >>> lower_words("It's 1,200 well-kept cars.")
        ['it', 's', '1', '200', 'well', 'kept', 'cars']
        >>> lower_words("北京2008年")
        ['北', '京', '2008', '年']
    """
    shown = text if text.isascii() else unicodedata.normalize("NFC", text.translate(_INVISIBLE))
    words: list[str] = _WORD.findall(shown.lower())
    return words


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

    def new_shares(self, prediction: str) -> tuple[float, ...]:
        """The fractions of the summary's words, bigrams and trigrams that do not occur in the
        source.

        Each is between 0 (all occur in the source) and 1 (none does), and each occurrence counts. A
        summary that is shorter than n words has the share of the next shorter n-grams; a summary
        without words has 1 throughout.

        Example:
            >>> SourceNgrams.of("The red dog sat.").new_shares("A red dog sat")
            (0.25, 0.3333333333333333, 0.5)
        """
        words = lower_words(prediction)
        shares: list[float] = []
        for size in range(1, LONGEST + 1):
            runs = ngrams(words, size)
            if runs:
                shares.append(sum(run not in self.known[size] for run in runs) / len(runs))
            else:
                shares.append(shares[-1] if shares else 1.0)
        return tuple(shares)
