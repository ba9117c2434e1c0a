"""Names: what a word is without capitals, marks and points, which words belong to one name, and where
capitals say something.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import regex

from estime_metric.wording.numbers import numbers_of
from estime_metric.wording.tables import (
    ABBREVIATIONS,
    AMBIGUOUS,
    ENDINGS,
    LEAST,
    PEOPLES,
    ROMAN_NUMERALS,
    WITH_PERIOD,
)
from estime_metric.wording.tokens import SPACES, Tokens

#: Words without a capital within a name: "University of the Arts".
_LINKS = frozenset(["of", "the", "and", "for", "in", "on", "at", "de", "la", "del", "van", "von"])

_WITHIN_NAMES = (*SPACES, ", ", " & ")

_LONGEST_NAME = 8  # words of a name whose initials are tried
_LONGEST_LOOK_BACK = 80  # characters before a word that decide whether it begins a sentence

#: The number of an item of a list.
ITEM = regex.compile(r"(?m)^[ \t]*\d+[.)](?=\s)")

_CLOSES_QUOTATION = "\"'\u2019\u201d\u00bb"

#: A period that may not end a sentence: of an abbreviation, of initials ("J. Smith", "U.S. troops").
_ABBREVIATED = regex.compile(r"(?<!\w)(?P<word>\p{L}+)\.$|(?:(?<!\w)\p{Lu}|(?:\p{L}\.)+\p{L})\.$")

#: A quotation mark directly before a word, but not an apostrophe within a name.
_QUOTATION = regex.compile(r"(?<!\w)[\"'`\u2018\u201c\u00ab\u201e\u201a][*_]*$")


#: Different words whose forms are kept, for all texts together: about 5 MB.
_KEPT = 2**14


@lru_cache(_KEPT)
def plain(written: str) -> str:
    """A word without capitals, marks and points, its abbreviation written out.

    Example:
        >>> plain("Nicolás"), plain("U.S."), plain("Jan")
        ('nicolas', 'us', 'january')
    """
    if written.isascii():
        form = written.lower().replace(".", "")
    else:
        letters = unicodedata.normalize("NFKD", written).casefold()
        form = "".join(
            letter
            for letter in letters
            if unicodedata.category(letter) not in ("Mn", "Mc", "Me", "Cf") and letter != "."
        )
    return ABBREVIATIONS.get(form, form)


def form_of(written: str) -> str:
    """`plain`, and nothing for a word that mostly is no name, such as "march"."""
    return "" if written in AMBIGUOUS else plain(written)


@lru_cache(_KEPT)
def capitals_of(written: str) -> str:
    """The capitals of a word, in lower case, if there are several: "who" of "WHO", "doj" of "DoJ"."""
    capitals = "".join(filter(str.isupper, written))
    return plain(capitals) if len(capitals) > 1 else ""


def is_roman_numeral(written: str) -> bool:
    """Whether a word is a Roman numeral in capitals, "II" to "XV"."""
    form = plain(written)
    return form in ROMAN_NUMERALS and form == capitals_of(written)


@lru_cache(_KEPT)
def related_forms(form: str) -> frozenset[str]:
    """A word, and the names that it can belong to: "venezuelan" and "venezuela"."""
    forms = {form, PEOPLES.get(form.removesuffix("s"), form)} | {
        form.removesuffix(derived) + base
        for base, derived in ENDINGS
        if form.endswith(derived) and len(form) - len(derived) + len(base) >= LEAST
    }
    return frozenset(forms | {PEOPLES[name] for name in forms & PEOPLES.keys()})


class Facts:
    """The words with a capital and the numbers of a text; the former can be names.

    Attributes:
        tokens: all words and numbers.
        numbers: the numbers, in order.
        of_numbers: positions of the tokens that numbers are written with.
        names: positions of the words that begin with a capital and belong to no number.
    """

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text)
        self.numbers = numbers_of(self.tokens)
        self.of_numbers = frozenset(
            position for number in self.numbers for position in range(number.first, number.stop)
        )
        self.names = [
            position
            for position, written in enumerate(self.tokens.written)
            if written[0].isupper() and position not in self.of_numbers
        ]

    def has_capitals(self) -> bool:
        """Whether capitals say something: not if no word begins with one, or more than half of the longer
        words do, as in a headline.
        """
        longer = [
            written[0].isupper()
            for position, written in enumerate(self.tokens.written)
            if len(written) >= LEAST and position not in self.of_numbers
        ]
        is_any = any(written[0].isupper() for written in self.tokens.written)
        return is_any and 2 * sum(longer) <= len(longer)

    def with_initials(self) -> Iterator[tuple[range, set[str]]]:
        """Every run of words with capitals, with links such as "of" between them, of which at least two
        have one; with its initials, those of its links and without them.
        """
        names = frozenset(self.names)
        written, gaps = self.tokens.written, self.tokens.gaps
        for first in self.names:
            every = short = form_of(written[first])[:1]
            for position in range(first + 1, min(first + _LONGEST_NAME, len(self.tokens))):
                if position in self.of_numbers or gaps[position] not in _WITHIN_NAMES:
                    break
                form = form_of(written[position])
                every += form[:1]
                if position in names:
                    short += form[:1]
                    yield range(first, position + 1), {every, short}
                elif form not in _LINKS:
                    break

    def begins_sentence(self, position: int) -> bool:
        """Whether a word is the first one of the text, a line, a sentence or a quotation."""
        start = self.tokens.starts[position]
        line = self.tokens.text[max(0, start - _LONGEST_LOOK_BACK) : start].rpartition("\n")[2]
        before = line.rstrip(" \t\u00a0([{*_#-\u2013\u2014\u2022")
        if not before or _QUOTATION.search(line) or ITEM.fullmatch(f"{before} ", 0, len(before)):
            return True
        before = before.rstrip(_CLOSES_QUOTATION)
        if before.endswith("."):
            abbreviated = _ABBREVIATED.search(before)
            word = abbreviated and abbreviated["word"]
            return abbreviated is None or bool(
                word and len(word) > 1 and word.casefold() not in WITH_PERIOD
            )
        return before.endswith(("!", "?", ":", "\u2026"))
