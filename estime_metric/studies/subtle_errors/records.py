"""What a corrupted text is: the text, and where each error stands in it and in the clean text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SubtleError:
    """One word that was put in place of another.

    Attributes:
        span: start and end of the new word in the corrupted text, in characters.
        clean_span: start and end of the original word in the clean text, in characters.
        original: the word that stood there, as written.
        replacement: the word that stands there now, as written; never the original in other capitals or accents.
        rank: rank of the new word's token among all tokens of the vocabulary, by the model's prediction; 1 is the
            top. It is 2 where the original itself was the top, and more where what stood before it was no whole word.
        probability: what the model gave that token, 0 to 1, over the whole vocabulary.
        step: how many errors were put in before this one.
    """

    span: Span
    clean_span: Span
    original: str
    replacement: str
    rank: int
    probability: float
    step: int


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A text with its errors.

    Attributes:
        clean: the text as it came.
        text: the text with the errors in it; outside of their spans it is ``clean``, character by character.
        errors: the errors, from left to right.
        n_missing: how many errors fewer than asked for; 0 unless the text has too few whole words.
    """

    clean: str
    text: str
    errors: tuple[SubtleError, ...]
    n_missing: int

    def first(self, n_errors: int) -> Corrupted:
        """This text with the ``n_errors`` errors alone that were put in first, as the generator makes it when asked for
        that many. Raises ValueError for a number that is negative or more than were asked for.
        """
        asked = len(self.errors) + self.n_missing
        if not 0 <= n_errors <= asked:
            raise ValueError(f"Expected argument `n_errors` to lie within 0..{asked}, but got {n_errors}.")
        return substitute(self.clean, [error for error in self.errors if error.step < n_errors], n_errors)


def substitute(clean: str, errors: Sequence[SubtleError], n_asked: int) -> Corrupted:
    """Puts errors into a text by their ``clean_span`` and ``replacement``, in any order; the spans must not overlap."""
    parts: list[str] = []
    placed: list[SubtleError] = []
    length = end = 0
    for error in sorted(errors, key=lambda error: error.clean_span):
        start, stop = error.clean_span
        parts += [clean[end:start], error.replacement]
        length += start - end + len(error.replacement)
        span = (length - len(error.replacement), length)
        placed.append(replace(error, span=span, original=clean[start:stop]))
        end = stop
    return Corrupted(clean, "".join([*parts, clean[end:]]), tuple(placed), n_asked - len(placed))
