"""How much of a summary's wording its source does not have, and how much it copies; no encoder is needed.

Importing this module loads no torch.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex

from estime_metric.checks import check_pairs

#: The measures that the texts alone decide, in this order.
NOVELTY = ("new_words", "new_bigrams", "new_trigrams", "copied_density")

#: The longest n-grams that are counted.
LONGEST = 3

Ngram = tuple[str, ...]

#: Scripts without spaces between words: each character of theirs is a word.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

#: A character of such a script with its marks, or a run of other letters, digits, marks and ``_``;
#: words of ASCII, which nearly all are, come first only because they are found faster.
_WORD = regex.compile(
    r"[a-z0-9_]++(?![\p{L}\p{N}\p{M}])"
    rf"|[{_UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{N}}\p{{M}}_]--[{_UNSPACED}]]++",
    regex.VERSION1,
)

#: Characters that are not shown, and which the tokenizers of encoders drop: the soft hyphen, spaces
#: without width, marks of direction.
_INVISIBLE = regex.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")


def novelty(predictions: Sequence[str], sources: Sequence[str]) -> dict[str, list[float]]:
    """The fractions of new words, bigrams and trigrams of each summary, and how long the runs of words
    are that it copies: the same numbers as a result of `EstimeScorer` has, without an encoder.

    Args:
        predictions: the summaries.
        sources: the source text of each summary.

    Returns:
        For each measure a list of floats, one per summary, in input order. ``new_words``,
        ``new_bigrams`` and ``new_trigrams`` are between 0 (all occur in the source) and 1 (none
        does). ``copied_density`` is 0 or more; it is 0 for a summary without words.

    Raises:
        TypeError, ValueError: the arguments are not lists of strings of the same length, or a source
            has no letter and no digit; the message names the index.

    Source: See, Liu & Manning 2017, section 7.2 (novel n-grams); Grusky, Naaman & Artzi 2018
    (Newsroom), section 4 (density).

    Example:
        >>> novelty(["A red dog sat."], ["The red dog sat on the mat."])["new_words"]
        [0.25]
        >>> novelty(["A red dog sat."], ["The red dog sat on the mat."])["copied_density"]
        [2.25]
    """
    summaries, texts = check_pairs(predictions, sources)
    rows_by_source: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        rows_by_source.setdefault(text, []).append(row)
    columns = {measure: [0.0] * len(texts) for measure in NOVELTY}
    for text, rows in rows_by_source.items():
        wording = SourceWording.of(text)  # one at a time: it is far larger than its text
        for row in rows:
            for measure, value in wording.novelty(summaries[row]).items():
                columns[measure][row] = value
    return columns


@dataclass(frozen=True)
class SourceWording:
    """The words and n-grams of a source, prepared once for all of its summaries.

    Attributes:
        words: its `lower_words`, `joined`.
        ngrams: for each size from 1 to `LONGEST`, the n-grams that occur.
    """

    words: str
    ngrams: dict[int, frozenset[Ngram]]

    @classmethod
    def of(cls, source: str) -> SourceWording:
        """The wording of a text."""
        words = lower_words(source)
        sizes = range(1, LONGEST + 1)
        return cls(joined(words), {size: frozenset(ngrams(words, size)) for size in sizes})

    def novelty(self, prediction: str) -> dict[str, float]:
        """The measures `NOVELTY` of a summary, by name.

        Each occurrence of an n-gram counts. A summary that is shorter than n words has the share of
        the next shorter n-grams; a summary without words has 1 for each share.

        Example:
            >>> SourceWording.of("The red dog sat.").novelty("A red dog sat")
            {'new_words': 0.25, 'new_bigrams': 0.333..., 'new_trigrams': 0.5, 'copied_density': 2.25}
        """
        words = lower_words(prediction)
        shares: list[float] = []
        for size in range(1, LONGEST + 1):
            runs = ngrams(words, size)
            if runs:
                shares.append(sum(run not in self.ngrams[size] for run in runs) / len(runs))
            else:
                shares.append(shares[-1] if shares else 1.0)
        squares = sum(length**2 for length in fragment_lengths(words, self.words))
        return dict(zip(NOVELTY, [*shares, squares / max(1, len(words))], strict=True))


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
    shown = text if text.isascii() else unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    words: list[str] = _WORD.findall(shown.lower())
    return words


def ngrams(words: list[str], size: int) -> list[Ngram]:
    """The runs of ``size`` words, in order; none if there are fewer words."""
    return list(zip(*(words[start:] for start in range(size)), strict=False))


def joined(words: Iterable[str]) -> str:
    """Words between single spaces, in which `fragment_lengths` looks for runs of words."""
    return f" {' '.join(words)} "


def fragment_lengths(prediction: Sequence[str], source: str) -> list[int]:
    """The lengths of the extractive fragments of a summary, in its order.

    From left to right, the longest run of words that begins here and occurs anywhere in the source
    is a fragment; the next one begins behind it. The published procedure passes over occurrences
    within a run that it has just tried, so that in a source that repeats itself ("no no no way") it
    may find a shorter run than the longest.

    Args:
        prediction: the words of the summary.
        source: the words of the source, `joined`.

    Source: Grusky, Naaman & Artzi 2018 (Newsroom), section 4 and Fig. 3.

    Example:
        >>> fragment_lengths(["a", "red", "dog", "sat"], joined(["the", "red", "dog", "sat"]))
        [3]
    """
    lengths = []
    start = 0
    while start < len(prediction):
        run, at, stop = " ", 0, start  # the run is source[at : at + len(run)]
        while stop < len(prediction):
            word = f"{prediction[stop]} "
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
