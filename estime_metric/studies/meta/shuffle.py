"""The shuffle test: does a measure prefer a text to the same text with its sentences in another
order?

Steen & Markert 2022, section 7.1 (accuracy on pairs, Table 4) and 7.4 (by difference in length,
Figure 4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from estime_metric.checks import check_texts, integer
from estime_metric.table.arrays import Floats, alike

#: An end mark with its closing quotes and brackets, white space, and then no lower-case letter.
_BREAK = re.compile(
    r"(?<=[.!?])((?:\s?(?:''|[\"')\]\u2019\u201d]))*)\s+(?=(?:[\"'`(\[\u2018\u201c]+\s?)?[^\Wa-z])"
)

_WIDTH, _LIMIT = 20.0, 200.0  # of the buckets of lengths, in the paper


def split_sentences(text: str) -> list[str]:
    """Sentences of a text, without blank ones: its lines if it has several, otherwise its parts by
    end marks.

    A part ends with ``.``, ``!`` or ``?`` and closing quotes and brackets, if white space and then
    no lower-case letter follow ("v. stiviano" is whole). It knows no abbreviations: "Mr. Smith" is
    cut.

    Example:
        >>> split_sentences("It rained . Nobody came , said v. jones . 'Why ?' Nobody knows .")
        ['It rained .', 'Nobody came , said v. jones .', "'Why ?'", 'Nobody knows .']
        >>> split_sentences("one line\\nanother line")
        ['one line', 'another line']
    """
    parts = text.split("\n") if "\n" in text.strip() else _BREAK.sub(r"\1" + "\n", text).split("\n")
    return [part.strip() for part in parts if part.strip()]


def shuffle_text(text: str, seed: int | Sequence[int] = 0) -> str:
    """The text with its sentences in a random order that reads differently; all such orders are
    equally likely.

    Sentences are joined by a newline if the text has lines, otherwise by a space. A text without
    two different sentences is returned unchanged: exclude such pairs from an accuracy. The seed has
    the format of ``numpy.random.default_rng``.
    """
    sentences = split_sentences(text)
    if len(set(sentences)) < 2:
        return text
    rng = np.random.default_rng(seed)
    shuffled = sentences
    while (
        shuffled == sentences
    ):  # two sentences that differ are swapped with a probability of at least one half
        shuffled = [sentences[index] for index in rng.permutation(len(sentences))]
    return ("\n" if "\n" in text.strip() else " ").join(shuffled)


def shuffle_texts(texts: Sequence[str], seed: int = 0) -> list[str]:
    """Each text shuffled by `shuffle_text`; the order of one depends on ``seed``, its index and its
    sentences only.

    Example:
        >>> first, second = shuffle_texts(["One came. Two left. Three stayed.", "One sentence."])
        >>> sorted(first.split(". ")), second
        (['One came', 'Three stayed', 'Two left.'], 'One sentence.')
    """
    return [
        shuffle_text(text, (seed, index)) for index, text in enumerate(check_texts("texts", texts))
    ]


def shuffle_accuracy(originals: ArrayLike, shuffled: ArrayLike) -> float:
    """Fraction of pairs in which the original is scored higher, within 0..1, 0.5 by chance; a tie
    counts as one half; NaN without pairs. The arguments are (n,) scores of originals, higher is
    better, and of the same texts shuffled.

    Example:
        >>> shuffle_accuracy([2.0, 1.0, 3.0, 0.0], [1.0, 1.0, 2.0, 4.0])
        0.625
    """
    won = _wins(*alike(1, originals=originals, shuffled=shuffled))
    return float(won.mean()) if len(won) else float("nan")


def accuracy_by_length_difference(
    originals: ArrayLike,
    shuffled: ArrayLike,
    lengths: ArrayLike,
    shuffled_lengths: ArrayLike | None = None,
    *,
    pairs: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Accuracy on pairs of a text and the shuffled form of *another* text, by the difference of
    their lengths.

    The curve of a measure that sees coherence alone is flat; one that prefers long texts rises,
    since the difference is the original's length minus the shuffled text's (section 7.4, Figure 4;
    the defaults are the paper's). A tie counts as one half; in the authors' released code it is
    wrong.

    Args:
        originals, shuffled: (n,) scores of the originals, higher is better, and of the same texts
            shuffled.
        lengths, shuffled_lengths: (n,) lengths of both, in any unit; the second are the first if
            omitted.
        pairs, seed: most pairs, drawn at random without repetition.

    Returns:
        A row for each difference of lengths that occurs, rising: ``length``, the lower edge of a bucket
        of 20 (the last bucket at either end contains everything beyond 200), ``accuracy``, the
        fraction of its pairs that are ranked correctly, and ``pairs``, their number.
    """
    others = lengths if shuffled_lengths is None else shuffled_lengths
    better, worse, sizes, other_sizes = alike(
        1, originals=originals, shuffled=shuffled, lengths=lengths, shuffled_lengths=others
    )
    integer("pairs", pairs, 1)
    every = len(better) * (len(better) - 1)
    drawn = np.arange(every)
    if every > pairs:
        drawn = np.random.default_rng(seed).choice(every, size=pairs, replace=False)
    first, step = np.divmod(drawn, max(len(better) - 1, 1))
    other = step + (step >= first)  # all texts but the first
    differences = sizes[first] - other_sizes[other]
    edges = (np.floor(differences / _WIDTH) * _WIDTH).clip(-_LIMIT, _LIMIT)
    buckets, bucket, counts = np.unique(edges, return_inverse=True, return_counts=True)
    won = np.bincount(bucket, _wins(better[first], worse[other]), minlength=len(buckets))
    return pd.DataFrame({"length": buckets, "accuracy": won / counts, "pairs": counts})


def _wins(better: Floats, worse: Floats) -> Floats:
    """1 if the first is higher, one half if they are equal, otherwise 0; of shape (n,)."""
    won: Floats = (better > worse) + 0.5 * (better == worse)
    return won
