"""Tokens: the words and numbers of a text as they are written, and what separates them."""

from __future__ import annotations

from itertools import accumulate

import regex

from estime_metric.wording.words import UNSPACED

#: What lies between two words that can belong to one number or name.
SPACES = (" ", "\u00a0", "-", "\u2010", "\u2011")

#: Between thousands: a comma, or a space at which no line breaks.
THOUSANDS = ",\u00a0\u2009\u202f"

#: A letter of a script with spaces between words.
_LETTER = rf"(?:(?![{UNSPACED}])[\p{{L}}\p{{M}}_])"

_ENDS_IN_LETTER = regex.compile(rf"{_LETTER}$", regex.VERSION1)

#: Digits, with thousands joined and decimals (but not those of "10.30am"), and the letters behind them.
_NUMBER = (
    rf"(?<!{_LETTER})(?:\d{{1,3}}(?:[{THOUSANDS}]\d{{3}})+(?!\d)|\d+)"
    rf"(?:(?<!\d\.\d+)\.\d+(?!\.?\d|\s?[ap]\.?m\b))?{_LETTER}*"
)

#: A word as it is written, with characters that are not shown; "Don't" is "Do" and a negation.
_WRITTEN = (
    r"\p{L}+(?=[nN]['\u2019][tT]\b)"
    r"|[A-Za-z0-9_]++(?![\p{L}\p{N}\p{M}\p{Cf}])"
    rf"|[{UNSPACED}]\p{{M}}*"
    rf"|[[\p{{L}}\p{{N}}\p{{M}}_]--[{UNSPACED}]][[\p{{L}}\p{{N}}\p{{M}}\p{{Cf}}_]--[{UNSPACED}]]*+"
)

#: A word that nothing else can be, first because most are such and it is found fastest; a number; letters
#: with a point behind each; any other word.
_TOKEN = regex.compile(
    rf"([A-Za-z]++(?=[ ,;:!?\n])|{_NUMBER}"
    rf"|(?<![\w.])(?:\p{{L}}\p{{Ll}}?\.){{2,}}(?:\p{{L}}(?!\w))?|{_WRITTEN})",
    regex.VERSION1,
)


class Tokens:
    """The words and numbers of a text, in order.

    Attributes:
        text: the text.
        written: each token as it is written: a word, digits with the letters directly behind them
            ("1,200.50", "90s"), or letters with points ("U.S.").
        gaps: what is before each token; one more, behind the last.
        starts, ends: each token is ``text[start:end]``.
    """

    def __init__(self, text: str) -> None:
        pieces = _TOKEN.split(text)
        ends = list(accumulate(map(len, pieces)))
        self.text = text
        self.gaps: list[str] = pieces[::2]
        self.written: list[str] = pieces[1::2]
        self.starts: list[int] = ends[:-1:2]
        self.ends: list[int] = ends[1::2]

    def __len__(self) -> int:
        return len(self.written)

    def is_number(self, index: int) -> bool:
        """Whether a token is written in digits, and does not continue a word ("4x4")."""
        written = self.written[index]
        if not written[0].isdecimal():
            return False
        continues = (
            index and not self.gaps[index] and _ENDS_IN_LETTER.search(self.written[index - 1])
        )
        return not continues
