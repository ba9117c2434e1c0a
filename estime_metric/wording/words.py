"""Words: how a text is cut into them, which runs of them a source has, and how long the copied ones are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import repeat

import numpy as np
import regex
from numpy.typing import NDArray

from estime_metric.wording.text import shown

#: Scripts without spaces between words: each character of theirs is a word.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

#: A character of such a script with its marks, or a run of other letters, digits, marks and ``_``.
_WORD = regex.compile(
    rf"[{UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{N}}\p{{M}}_]--[{UNSPACED}]]++", regex.VERSION1
)
#: The same in a text without marks and such scripts, which is found faster.
_WORD_OF_LATIN = re.compile(r"\w+")
_NOT_LATIN = re.compile(r"[^\x00-\u02ff\u2000-\u20cf\u2100-\u2bff]")

#: A negation at the end of a word or, in a text that is split into tokens, alone: "didn't", "did n't".
_NEGATION = re.compile(r"n't\b(?<!(?:[\d_]|(?!\s)\W)n.t)", re.IGNORECASE)


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
    lower = _with_negations(text).lower()
    words: list[str] = (_WORD if _NOT_LATIN.search(lower) else _WORD_OF_LATIN).findall(lower)
    return words


def located_words(text: str) -> list[tuple[str, int, int]]:
    """Each of the `words_of`, with its begin and end in what a text shows."""
    return [
        (match.group().lower(), *match.span()) for match in _WORD.finditer(_with_negations(text))
    ]


def _with_negations(text: str) -> str:
    lower = text.lower()
    if "n't" in lower:
        text = _NEGATION.sub(" nt", text)  # as long as before
    return text


_Numbers = NDArray[np.int64]


class RunsOfWords:
    """The words of a text in order, in which runs of words are looked for.

    Args:
        words: the words, as `lower_words` finds them.

    Attributes:
        number_of: the different words, each with its number.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.number_of = {word: number for number, word in enumerate(dict.fromkeys(words))}
        self._in_order = f" {' '.join(words)} "
        _, pairs, triples = self._runs(words)
        self._pairs, self._triples = np.sort(pairs), np.sort(triples)

    def _runs(self, words: Sequence[str]) -> tuple[_Numbers, _Numbers, _Numbers]:
        """The numbers of the words of a text, of its pairs and of its triples. Words that this text does not
        have are one number, which is larger than the others.
        """
        unknown = len(self.number_of)
        known = map(self.number_of.get, words, repeat(unknown))
        numbers = np.fromiter(known, np.int64, len(words))
        pairs = numbers[:-1] * (unknown + 1) + numbers[1:]
        return numbers, pairs, pairs[:-1] * (unknown + 1) + numbers[2:]

    def known_lengths(self, words: Sequence[str]) -> list[int]:
        """For each word of another text, how long the run that ends with it can be so that this text has it;
        at most 3.
        """
        numbers, pairs, triples = self._runs(words)
        lengths = (numbers < len(self.number_of)).astype(np.int64)
        lengths[1:] += _are_among(pairs, self._pairs)
        lengths[2:] += _are_among(triples, self._triples)
        return list(lengths.tolist())

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


def repetition(words: Sequence[str]) -> float:
    """The fraction of the runs of four words that occurred before in the text, 0 to 1; without words it is 1, with
    one to three 0.

    Source: Welleck et al. 2020 (unlikelihood training), section 4 (seq-rep-4).

    Example:
        >>> repetition("the dog sat on the dog sat on the mat".split())
        0.2857...
    """
    runs = list(zip(words, words[1:], words[2:], words[3:], strict=False))
    if not runs:
        return float(not words)
    return 1 - len(set(runs)) / len(runs)


def _are_among(runs: _Numbers, known: _Numbers) -> NDArray[np.bool_]:
    """Which of the runs are among the known ones, which are in order."""
    return np.searchsorted(known, runs) < np.searchsorted(known, runs, side="right")


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
