"""Names: what a word is without capitals, marks and points, which words belong to one name, and where
capitals say something.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import regex

from estime_metric.wording.english import (
    AMBIGUOUS,
    ENDINGS,
    FIRST_WORDS,
    FULL_NAMES,
    FUNCTION_WORDS,
    LEAST,
    LONGEST_FULL_NAME,
    OF_PEOPLES,
    OPENERS,
    OTHER_FORMS,
    PEOPLES,
    WITH_PERIOD,
    WITHOUT_DECOMPOSITION,
)
from estime_metric.wording.numbers import numbers_of
from estime_metric.wording.tokens import SPACES, Tokens

#: Words without a capital within a name: "University of the Arts".
_LINKS = frozenset(["of", "the", "and", "for", "in", "on", "at", "de", "la", "del", "van", "von"])

_WITHIN_NAMES = frozenset([*SPACES, ", ", " & "])

_LONGEST_NAME = 8  # words of a name whose initials are tried

#: What separates a word from the one before it if a sentence, a line or a quotation begins with it; a period may
#: be one of an abbreviation. A quotation mark directly behind a word is an apostrophe.
_BEGINNING = regex.compile(
    r"(?P<period>\.)[\"'\u201d\u00bb)\]]*[ \t(\[{*_#\-\u2013\u2014\u2022]*$"
    r"|\n|[!?:\u2026]|(?<=.)[\"'`\u201c\u00ab\u201e\u201a][*_]*$"
)

#: Capitals, each with at most one other letter or digit behind it.
_INITIALISM = regex.compile(r"(?:\p{Lu}[\p{Ll}\p{N}]?[. ]*)+")

#: Different words whose forms are kept, for all texts together: about 5 MB.
_KEPT = 2**15


_NO_LETTERS = str.maketrans("", "", ". '")


@lru_cache(_KEPT)
def normalized(written: str) -> str:
    """A word without capitals, marks, points, apostrophes and spaces, its abbreviation written out.

    Example:
        >>> normalized("Nicolás"), normalized("U.S."), normalized("Jan")
        ('nicolas', 'us', 'january')
    """
    letters = written.lower()
    if not letters.isascii():
        letters = unicodedata.normalize("NFKD", written).casefold().translate(WITHOUT_DECOMPOSITION)
        letters = "".join(
            letter
            for letter in letters
            if unicodedata.category(letter) not in ("Mn", "Mc", "Me", "Cf")
        )
    letters = letters.translate(_NO_LETTERS)
    return OTHER_FORMS.get(letters, letters)


@lru_cache(_KEPT)
def form_of(written: str) -> str:
    """`normalized`, and nothing for a word that is seldom a name, such as "march"."""
    return "" if written in AMBIGUOUS else normalized(written)


@lru_cache(_KEPT)
def initialism_of(written: str) -> str:
    """The capitals of a word that has several and little else, without a plural's "s"; nothing for others.

    Example:
        >>> initialism_of("WHO"), initialism_of("APhA"), initialism_of("GANs"), initialism_of("McCain")
        ('who', 'apa', 'gan', '')
    """
    capitals = "".join(filter(str.isupper, written))
    least = 2 if written.removesuffix("s").isupper() else 3
    is_initialism = len(capitals) >= least and _INITIALISM.fullmatch(written)
    return capitals.lower() if is_initialism else ""


@lru_cache(_KEPT)
def _initials_of(written: str) -> str:
    return initialism_of(written) or form_of(written)[:1]


@lru_cache(_KEPT)
def can_be_name(written: str) -> bool:
    """Whether a word with a capital is more than a letter, a title, a function word or what opens a sentence."""
    form = form_of(written)
    is_function_word = form in FUNCTION_WORDS and not initialism_of(written)
    return len(form) > 1 and not is_function_word and form not in OPENERS


@lru_cache(_KEPT)
def related_forms(form: str) -> frozenset[str]:
    """A word, and the names that it can belong to: "venezuelans" and "venezuela". If a table says whose
    a form is, its ending does not: "nigerian" is of "nigeria", not of "niger".
    """
    if form in PEOPLES:
        return frozenset([form, PEOPLES[form]])
    stems = {form.removesuffix(ending) for ending in ENDINGS}
    peoples = stems | {form.removesuffix(ending) for ending in OF_PEOPLES}
    names = {form, *(stem for stem in stems if len(stem) >= LEAST)}
    return frozenset(names | {PEOPLES[people] for people in peoples & PEOPLES.keys()})


#: The first letter of a word, and what separates clauses.
_INITIAL = re.compile(r"(?<!\w)[^\W\d_]|[^\w\s'-]|\n|\d")
_INITIAL_OF_OTHERS = re.compile(rf"(?<!\w)(?!(?:{'|'.join(_LINKS)})\b)[^\W\d_]|[^\w\s'-]|\n|\d")


def initials(text: str) -> str:
    """The initials of adjacent words of a text in lower case, of all words and of all but links such as "of"; with marks and digits,
    which separate them.

    Example:
        >>> initials("Quality of life, 2 years")
        'qol,2y ql,2y'
    """
    return " ".join("".join(each.findall(text)).lower() for each in (_INITIAL, _INITIAL_OF_OTHERS))


class Entities:
    """The words with a capital, which can be names, and the numbers of a text.

    Attributes:
        tokens: all words and numbers.
        numbers: the numbers, in order.
        of_numbers: positions of the tokens that numbers are written with.
        has_capitals: whether a word begins with a capital.
        names: positions of the words that begin with a capital and belong to no number; of all words if
            none begins with one.
        first_words: those of the first word of the text, a line, a sentence or a quotation.
        within: forms of the words with a capital that begin no sentence and end no label, as in
            "Project Manager: Good morning".
        lower: forms of the words without a capital.
        full_names: every name in `FULL_NAMES`, with its initialisms.
    """

    def __init__(self, text: str, *, of_source: bool = False) -> None:
        self.tokens = Tokens(text)
        written, different = self.tokens.written, self.tokens.different
        self.numbers = numbers_of(self.tokens, of_source=of_source)
        self.of_numbers = frozenset(
            position for number in self.numbers for position in number.tokens
        )
        capitals = {word for word in different if word[0].isupper()}
        self.has_capitals = bool(capitals)
        can_be_names = {word for word in capitals or different if word[0].isalpha()}
        self.names = [
            position
            for position, word in enumerate(written)
            if word in can_be_names and position not in self.of_numbers
        ]
        self.first_words = {position for position in self.names if self._begins_sentence(position)}
        self.within = frozenset(
            normalized(written[position])
            for position in self.names
            if self.has_capitals
            and position not in self.first_words
            and not self.tokens.gaps[position + 1].startswith(":")
        )
        self.lower = frozenset(map(normalized, filter(str.islower, different)))
        self.full_names = list(self._full_names())

    def with_initials(self) -> Iterator[tuple[range, set[str]]]:
        """Every run of words with capitals, with links such as "of" between them, of which at least two have one;
        with its initials, those of its links and without them. An initialism has all of its letters among
        them. Two letters are the initials of too many names; those in `FULL_NAMES` have them all the same.
        """
        yield from self.full_names
        written, names = self.tokens.written, frozenset(self.names)
        continuing = {
            position
            for position, word in enumerate(written)
            if (position in names or word in _LINKS) and self._is_within_name(position)
        }
        for first in self.names:
            every = short = _initials_of(written[first])
            for position in range(first + 1, first + _LONGEST_NAME):
                if position not in continuing:
                    break
                initials = _initials_of(written[position])
                every += initials
                if position in names:
                    short += initials
                    if len(every) > 2:
                        yield (
                            range(first, position + 1),
                            {every, short if len(short) > 2 else every},
                        )

    def _full_names(self) -> Iterator[tuple[range, set[str]]]:
        written = self.tokens.written
        first_words = {word for word in self.tokens.different if word.lower() in FIRST_WORDS}
        for first in [position for position, word in enumerate(written) if word in first_words]:
            for stop in range(first + 1, min(first + LONGEST_FULL_NAME, len(written)) + 1):
                initialisms = FULL_NAMES.get(" ".join(written[first:stop]).lower())
                if initialisms:
                    yield range(first, stop), set(initialisms)

    def _is_within_name(self, position: int) -> bool:
        """Whether what is before a word can be within a name: "New York", "F. Kennedy"."""
        gap = self.tokens.gaps[position]
        return gap in _WITHIN_NAMES or (
            gap == ". " and _is_abbreviation(self.tokens.written[position - 1])
        )

    def _begins_sentence(self, position: int) -> bool:
        if position == 0:
            return True
        gap = self.tokens.gaps[position]
        beginning = None if gap in _WITHIN_NAMES else _BEGINNING.search(gap)
        return beginning is not None and not (
            beginning["period"] and _is_abbreviation(self.tokens.written[position - 1])
        )


def _is_abbreviation(written: str) -> bool:
    """Whether a period behind a word may not end the sentence: that of "J. Smith", "Mr. Smith"."""
    is_letter = len(written) == 1 and written.isalpha()
    return is_letter or written.casefold() in WITH_PERIOD
