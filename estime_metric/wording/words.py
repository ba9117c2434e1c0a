"""Words: how a text is cut into them, which runs of them a source has, and how long the copied ones are."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import regex
from numpy.typing import NDArray

from estime_metric.wording.text import shown

IntArray = NDArray[np.int64]

#: Scripts without spaces between words: each character of theirs is a word.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

#: A character of such a script with its marks, or a run of other letters, digits, marks and ``_``;
#: words of ASCII, which nearly all are, come first only because they are found faster.
_WORD = regex.compile(
    r"[a-z0-9_]++(?![\p{L}\p{N}\p{M}])"
    rf"|[{UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{N}}\p{{M}}_]--[{UNSPACED}]]++",
    regex.VERSION1,
)

#: A negation at the end of a word or, in a text that is split into tokens, alone: "didn't", "did n't".
_NEGATION = regex.compile(r"(?<![^\p{L}\s])n['\u2019]t\b")


def lower_words(text: str) -> list[str]:
    """The words that a text shows (see `text.shown`), lower-cased: runs of letters, digits and ``_``; in
    scripts without spaces, such as Chinese, single characters. A negation (``n't``) is a word.

    Example:
        >>> lower_words("It's 1,200 well-kept cars.")
        ['it', 's', '1', '200', 'well', 'kept', 'cars']
        >>> lower_words("didn't") == lower_words("did n&#39;t") == ["did", "nt"]
        True
        >>> lower_words("北京2008年")
        ['北', '京', '2008', '年']
    """
    return words_of(shown(text).text)


def words_of(text: str) -> list[str]:
    """The `lower_words` of what a text shows."""
    words: list[str] = _WORD.findall(_lower(text))
    return words


def located_words(text: str) -> list[tuple[str, int, int]]:
    """Each of the `words_of`, with its begin and end in what a text shows."""
    return [(match.group(), *match.span()) for match in _WORD.finditer(_lower(text))]


def _lower(text: str) -> str:
    text = text.lower()
    if "n't" in text or "n\u2019t" in text:
        text = _NEGATION.sub(" nt", text)  # as long as before
    return text


class RunsOfWords:
    """The words of a text in order, in which runs of words are looked for.

    Args:
        words: the words, as `lower_words` finds them.

    Attributes:
        words: the different words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._number_of = {word: number for number, word in enumerate(dict.fromkeys(words))}
        self.words = self._number_of.keys()
        self._in_order = f" {' '.join(words)} "
        self._runs: list[IntArray] = []  # of two words and of three, as numbers in order
        numbers = shorter = self._numbers(words)
        for _ in range(2):
            runs = self._longer(shorter, numbers)
            self._runs.append(np.sort(runs))
            shorter = self._runs[-1].searchsorted(runs)

    @property
    def nbytes(self) -> int:
        """The memory of what it keeps, in bytes."""
        numbers = self._number_of
        parts = [self._in_order, numbers, *numbers, *numbers.values(), *self._runs]
        return sum(map(sys.getsizeof, parts))

    def _numbers(self, words: Sequence[str]) -> IntArray:
        """The number of each word; behind all others, that of an unknown one."""
        unknown = len(self.words)
        return np.array([self._number_of.get(word, unknown) for word in words], dtype=np.int64)

    def _longer(self, runs: IntArray, words: IntArray) -> IntArray:
        """A number for each run and the word behind it."""
        return runs[:-1] * (len(self.words) + 1) + words[len(words) - len(runs) + 1 :]

    def known_lengths(self, words: Sequence[str]) -> list[int]:
        """For each word of another text, how long the run that ends with it can be so that this text has it;
        at most 3.
        """
        numbers = runs = self._numbers(words)
        lengths = (numbers < len(self.words)).astype(np.int64)
        for size, known in enumerate(self._runs, start=2):
            longer = self._longer(runs, numbers)
            first = known.searchsorted(longer)
            has_run = first < known.searchsorted(longer, "right")
            lengths[size - 1 :] += has_run
            runs = np.where(has_run, first, len(known))
        listed: list[int] = lengths.tolist()
        return listed

    def fragment_lengths(self, words: Sequence[str], known_lengths: Sequence[int]) -> list[int]:
        """The lengths of the extractive fragments of a summary, in its order.

        From left to right, the longest run of words that begins here and occurs anywhere in the
        source is a fragment; the next one begins behind it. The published procedure passes over
        occurrences within a run that it has just tried, so that in a source that repeats itself ("no no
        no way") it may find a shorter run than the longest.

        Args:
            words: the words of the summary.
            known_lengths: the `known_lengths` of these.

        Source: Grusky, Naaman & Artzi 2018 (Newsroom), section 4 and Fig. 3.

        Example:
            >>> runs, words = RunsOfWords(["the", "red", "dog", "sat"]), ["a", "red", "dog", "sat"]
            >>> runs.fragment_lengths(words, runs.known_lengths(words))
            [3]
        """
        source = self._in_order
        lengths = []
        start = 0
        while start < len(words):
            run, at, stop = " ", 0, start  # the run is source[at : at + len(run)]
            while stop < len(words) and known_lengths[stop] >= min(3, stop - start + 1):
                word = f"{words[stop]} "
                run, end = run + word, at + len(run)
                if not source.startswith(word, end):
                    at = source.find(run, at)
                if at < 0:
                    break
                stop += 1
            if stop > start:
                lengths.append(stop - start)
            start = max(stop, start + 1)
        return lengths


def new_shares(known_lengths: Sequence[int]) -> list[float]:
    """The fractions of the words, of the bigrams and of the trigrams of a text that another one does not
    have, 0 to 1, by `RunsOfWords.known_lengths`.

    Each occurrence counts. If a text has fewer than n words, its fraction for n is that of the next
    shorter runs; without words it is 1.
    """
    shares = []
    share = 1.0
    for size in (1, 2, 3):
        lengths = known_lengths[size - 1 :]
        if lengths:
            share = sum(length < size for length in lengths) / len(lengths)
        shares.append(share)
    return shares
