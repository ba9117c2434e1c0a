"""Words: how a text is cut into them, which runs of them a source has, and how long the copied ones are."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import regex

from estime_metric.wording.text import shown

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
        numbers, count = [self._number_of[word] for word in words], len(self._number_of)
        pairs = [first * count + second for first, second in pairwise(numbers)]
        triples = [pair * count + third for pair, third in zip(pairs, numbers[2:], strict=False)]
        self._pairs, self._triples = (array("q", sorted({*runs})) for runs in (pairs, triples))

    @property
    def nbytes(self) -> int:
        """The memory of what it keeps, in bytes."""
        numbers = self._number_of
        parts = [self._in_order, numbers, *numbers, *numbers.values(), self._pairs, self._triples]
        return sum(map(sys.getsizeof, parts))

    def known_lengths(self, words: Sequence[str]) -> list[int]:
        """For each word of another text, how long the run that ends with it can be so that this text has it;
        at most 3.
        """
        lengths = []
        before = pair = None  # the word before, and the pair that ends with it, if they are known
        for word in words:
            number = self._number_of.get(word)
            longer = pair_here = None
            if number is not None and before is not None:
                pair_here = self._known(self._pairs, before, number)
            if number is not None and pair is not None:
                longer = self._known(self._triples, pair, number)
            lengths.append(sum(run is not None for run in (number, pair_here, longer)))
            before, pair = number, pair_here
        return lengths

    def _known(self, runs: array[int], run: int, number: int) -> int | None:
        """The number of a run and the word behind it; ``None`` if this text does not have it."""
        longer = run * len(self._number_of) + number
        first = bisect_left(runs, longer)
        return longer if first < len(runs) and runs[first] == longer else None

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
            at, end, stop = (
                0,
                1,
                start,
            )  # the run, with a space before and behind, is source[at:end]
            while stop < len(words) and known_lengths[stop] >= min(3, stop - start + 1):
                word = f"{words[stop]} "
                if not source.startswith(word, end):
                    run = source[at:end]
                    at = source.find(run + word, at)
                    if at < 0:
                        break
                    end = at + len(run)
                end += len(word)
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
