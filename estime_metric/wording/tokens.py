"""Tokens: the words and numbers of a text as they are written, and what separates them."""

from __future__ import annotations

from itertools import accumulate

import regex

from estime_metric.wording.english import CLITICS, CURRENCIES, FUNCTION_WORDS
from estime_metric.wording.words import UNSPACED

#: What lies between two words that can belong to one number or name.
SPACES = (" ", "-")

#: A letter of a script with spaces between words.
_LETTER = rf"(?:(?![{UNSPACED}])[\p{{L}}\p{{M}}_])"

_ENDS_IN_LETTER = regex.compile(rf"{_LETTER}$", regex.VERSION1)

#: Characters that are a fraction, as in "5½".
FRACTIONS = "\u00bc-\u00be\u2150-\u215e"

#: Digits with thousands joined ("10, 000" and "10 000" too) and decimals, perhaps without a digit before them.
DIGITS = (
    r"(?:(?:\d{1,3}(?:,\d{3}|,?[ ]000|[ ]\d{3}(?=[ ]000))+(?!\d)|\d{1,2}(?:,\d\d)+,\d{3}(?!\d)|\d+)"
    r"(?:(?<!\d\.\d+)\.\d+(?!\.?\d))?|(?<![\w.])\.\d+(?!\.?\d))"
)

#: A number in digits with fractions and the letters behind it; a time; a quarter with its year ("3Q22"). Letters
#: of a currency, and the "v" of a version, can be directly before it.
_NUMBER = (
    rf"(?<!{_LETTER})(?:{'|'.join(CURRENCIES)}|v(?=\d+\.\d))?"
    rf"(?:\d+(?::[0-5]\d)+(?![\d:]|\.\d)|{DIGITS}[{FRACTIONS}]?|[{FRACTIONS}])"
    rf"(?:[QqHh]\d\d(?!\w)|[aApP]\.[mM]\b|{_LETTER}*)"
)

#: A word as it is written, with characters that are not shown; "Don't" is "Do" and a negation;
#: within O'Brien and Qur'an an apostrophe is a part of the word.
_WRITTEN = (
    rf"[\p{{L}}--[{UNSPACED}]]+(?=[nN]'[tT]\b)"
    rf"|(?:(?<!\w)(?:[oO]|[DMN](?=.\p{{Lu}}))|[\p{{L}}--[{UNSPACED}]]{{2,}})"
    rf"(?:'(?!(?i:{CLITICS})(?!\p{{Ll}}))\p{{L}}+)+(?![\p{{N}}\p{{M}}_])"
    r"|[A-Za-z0-9_]++(?![\p{L}\p{N}\p{M}\p{Cf}])"
    rf"|[{UNSPACED}]\p{{M}}*"
    rf"|[[\p{{L}}\p{{N}}\p{{M}}_]--[{UNSPACED}]][[\p{{L}}\p{{N}}\p{{M}}\p{{Cf}}_]--[{UNSPACED}]]*+"
)

#: A word that nothing else can be, first because most are such and it is found fastest; a number; letters
#: with a point behind each (capitals with spaces between them, too); any other word.
_TOKEN = regex.compile(
    rf"""([A-Za-z]++(?=[- ,;:!?\n)"]|(?<=[A-Za-z][A-Za-z])\.[ \n])"""
    rf"|(?=[\w.{FRACTIONS}])(?:(?=[\dA-Z.{FRACTIONS}]){_NUMBER}"
    rf"|(?<![\w.])(?:\p{{Lu}}\.(?: \p{{Lu}}\.)+|(?:\p{{L}}\p{{Ll}}?\.){{2,}}(?:\p{{L}}(?!\w))?)|{_WRITTEN}))",
    regex.VERSION1,
)


class Tokens:
    """The words and numbers of a text, in order.

    Attributes:
        text: the text.
        written: each token as it is written: a word, digits with the letters directly behind them
            ("1,200.50", "90s"), or letters with points ("U.S.", "U. S.").
        different: each of these once.
        gaps: what is before each token; one more, behind the last.
        starts, ends: each token is ``text[start:end]``.
    """

    def __init__(self, text: str) -> None:
        pieces = _TOKEN.split(text)
        ends = list(accumulate(map(len, pieces)))
        self.text = text
        self.gaps: list[str] = pieces[::2]
        self.written: list[str] = pieces[1::2]
        self.different = frozenset(self.written)
        self.starts: list[int] = ends[:-1:2]
        self.ends: list[int] = ends[1::2]

    def span(self, run: range) -> tuple[int, int]:
        """Begin and end of successive tokens."""
        return self.starts[run[0]], self.ends[run[-1]]

    def continues_word(self, index: int) -> bool:
        """Whether a token continues a word, as the second half of "4x4" does."""
        return bool(
            index and not self.gaps[index] and _ENDS_IN_LETTER.search(self.written[index - 1])
        )

    def has_word(self, index: int, gap: int) -> bool:
        """Whether there is a token that is no function word, and a space alone is the gap next to it: "5 people"."""
        return (
            self.gaps[gap] == " "
            and 0 <= index < len(self.written)
            and self.written[index].lower() not in FUNCTION_WORDS
        )
