"""Numbers: the values that a number can be read as, in digits or in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile

import regex

from estime_metric.wording.tables import (
    AMBIGUOUS,
    CARDINALS,
    ORDINALS,
    SCALE_LETTERS,
    SCALES,
    TENS,
)
from estime_metric.wording.tokens import SPACES, THOUSANDS, Tokens

#: Words that can be a number, or a part of one.
_NUMBER_WORDS = frozenset(
    written
    for word in (*CARDINALS, *ORDINALS, *SCALES, "second")
    for written in (word, word.capitalize(), word.upper())
)

#: Digits, and the letters behind them.
_DIGITS = regex.compile(rf"(?P<digits>[\d.{THOUSANDS}]+)(?P<behind>.*)", regex.DOTALL)
_JOINED = str.maketrans("", "", THOUSANDS)


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        first, stop: the tokens that it is written with, from the first to before ``stop``.
        values: what it can be read as: "5m" can be 5 (meters) and 5,000,000.
    """

    first: int
    stop: int
    values: frozenset[float]


def numbers_of(tokens: Tokens) -> list[Number]:
    """The numbers of a text, in order."""
    numbers: list[Number] = []
    stop = 0
    for index, written in enumerate(tokens.written):
        if index < stop:
            continue
        number = None
        if written[0].isdecimal():
            if tokens.is_number(index):
                number = _in_digits(tokens, index)
        elif written in _NUMBER_WORDS:
            number = _in_words(tokens, index)
        if number is not None:
            numbers.append(number)
            stop = number.stop
    return numbers


def _in_digits(tokens: Tokens, first: int) -> Number:
    """The number whose digits are this token, with the scales behind it: "1.5 million"."""
    parts = _DIGITS.fullmatch(tokens.written[first])
    value = float(parts["digits"].translate(_JOINED))
    behind = parts["behind"].casefold()
    if parts["behind"] == "s":  # "the 1990s" are "the 90s"
        return Number(first, first + 1, frozenset({value, value % 100}))
    if behind:
        return Number(first, first + 1, frozenset({value, value * SCALE_LETTERS.get(behind, 1)}))
    stop = first + 1
    for scale in takewhile(SCALES.__contains__, islice(_phrase(tokens, first), 1, None)):
        value *= SCALES[scale]
        stop += 1
    return Number(first, stop, frozenset({value}))


def _in_words(tokens: Tokens, first: int) -> Number | None:
    """The number that begins with this word; ``None`` if it is none, as "second" alone."""
    total, part, stop = 0.0, 0.0, first  # part: below the next scale
    room = 100.0  # what follows has to be smaller: twenty-one, but not one-twenty
    before = ""
    for index, word in enumerate(_phrase(tokens, first), start=first):
        value = CARDINALS.get(word, ORDINALS.get(word))
        if word == "second" and room == 10.0:
            value = 2
        if value is not None and value < room:
            part += value
            room = 10.0 if word in TENS else 1.0
        elif word in SCALES and (before not in SCALES or word != "hundred"):
            part = max(part, 1.0) * SCALES[word]
            if word != "hundred":
                total, part = total + part, 0.0
            room = 100.0
        elif word != "and" or before not in SCALES:
            break
        before = word
        if word != "and":
            stop = index + 1
        if word in ORDINALS or word == "second":
            break
    is_alone = stop == first + 1
    if stop == first or (is_alone and tokens.written[first].casefold() in AMBIGUOUS):
        return None
    return Number(first, stop, frozenset({total + part}))


def _phrase(tokens: Tokens, first: int) -> Iterator[str]:
    """A word and those behind it, in lower case, as long as only a space or a hyphen is between them."""
    yield tokens.written[first].casefold()
    for index in range(first + 1, len(tokens)):
        if tokens.gaps[index] not in SPACES:
            return
        yield tokens.written[index].casefold()
