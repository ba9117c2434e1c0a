"""Numbers: the values that a number can be read as, in digits or in words."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import regex

from estime_metric.wording.tables import (
    AMBIGUOUS,
    BEFORE_HOURS,
    CARDINALS,
    CURRENCIES,
    DECADES,
    ORDINALS,
    PARTS,
    SCALE_LETTERS,
    SCALES,
    SHORT_SCALES,
    TENS,
)
from estime_metric.wording.tokens import DIGITS, FRACTIONS, THOUSANDS, Tokens

#: What a number can be read as: its value, or what is not one: "7:30" for a time (of either half of the day),
#: "1990s" for a decade, "q3" for a quarter, "f16" for a code.
Reading = float | str

_ALL_SCALES = SCALES | SHORT_SCALES | SCALE_LETTERS
_VALUES = CARDINALS | ORDINALS | DECADES | {"noon": 12, "midnight": 12}

#: Words that can begin a number.
_FIRST_WORDS = frozenset(
    written
    for word in (*_VALUES, *SCALES, "hundredth", "thousandth", "millionth", "half", "quarter")
    for written in (word, word.capitalize(), word.upper())
)


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_SPACE = r"[ \u00a0\u2010\u2011-]"
_SMALL, _LARGE, _TENS = _any([*CARDINALS][1:10]), _any([*CARDINALS][10:]), _any(TENS)
_PARTS = _any(PARTS)
_SCALE = rf"(?P<word>{_any(SCALES)})\b"
_BELOW_100 = (
    rf"(?:(?P<word>{_TENS})\b(?:{_SPACE}(?P<word>{_SMALL})\b)?|(?P<word>{_any(CARDINALS)})\b)"
)
_SCALED = rf"(?:(?:{_BELOW_100}{_SPACE})?{_SCALE}(?:{_SPACE}{_SCALE})*+)"
_ORDINAL = (
    rf"(?:(?P<word>{_TENS}){_SPACE})?(?P<word>{_any([*ORDINALS][:6])}|fourth|sixth|seventh)\b(?P<ordinal>)"
    rf"|(?P<word>{_any(ORDINALS)})\b(?P<ordinal>)"
    rf"|(?:(?:{_SCALED}|{_BELOW_100}){_SPACE})?(?P<word>(?:hundred|thousand|million)(?=th\b))th(?P<ordinal>)"
)
_IN_WORDS = rf"""
    (?: (?P<word>{_SMALL}){_SPACE}(?P<word>(?:{_PARTS})s)\b
        | (?P<word>(?:one{_SPACE})?(?:half|quarter)|one{_SPACE}(?:{_PARTS}))\b )
    (?:{_SPACE}(?:of[ ])?an?[ ]{_SCALE})?
    | (?:(?P<century>eighteen|nineteen|twenty){_SPACE})?(?P<word>{_any(DECADES)})\b(?P<decade>)
    | (?P<century>twenty|(?:thir|four|fif|six|seven|eigh|nine)teen)[ ](?={_LARGE}){_BELOW_100}(?!-)
    | {_ORDINAL}
    | {_SCALED}(?:{_SPACE}(?:and{_SPACE})?{_SCALED})*+(?:{_SPACE}(?:and{_SPACE})?(?:{_ORDINAL}|{_BELOW_100}))?
    | (?P<word>noon|midnight)\b(?P<clock>)
    | {_BELOW_100}
"""

#: What is between the numbers of a range: "$5 to $7 billion".
_TO = r"(?:[ ]?[-\u2010-\u2014][ ]?|[ -](?:to|and|or)[ -])\p{Sc}?"
_CLOCK = r"(?:[ap]\.?m|o['\u2019]clock|GMT|BST|UTC)\b"
_AND_A_PART = r"(?:[ ](?P<word>and[ ](?:an?[ ]|one[ -])?(?:half|quarter))\b)"

_PART_OF_YEAR = r"(?P<period>quarters?|half|halves)\b"

#: A number with what surrounds it, in groups by what they mean.
_NUMBER = regex.compile(
    rf"""(?!(?:third|3rd){_SPACE}part(?:y|ies)\b)
    (?:(?<=\b(?:{_any(BEFORE_HOURS)})[ ])(?P<clock>))?
    (?:(?<=['\u2019]|\b\d{{4}}[-\u2010-\u2014/])(?=(?P<short>\d\d)\b))?
    (?:(?<=\b(?P<letters>\p{{L}}+)-|\b(?P<letters>(?-i:\p{{Lu}})+)[ ]))?
    (?:(?<=(?P<money>\p{{Sc}}|\b(?:{_any(CURRENCIES)}))[ ]?)|(?P<money>{_any(CURRENCIES)}))?
    (?: (?=\p{{L}})(?:{_IN_WORDS}
        | (?P<period>[qh])(?P<hour>[1-4])(?:[fc]y(?P<short>\d\d))?\b
        | [fc]y(?:(?P<digits>\d{{4}})|(?P<short>\d\d))\b)
      | (?=\d[qh])(?:(?P<hour>[1-4])(?P<period>q)|(?P<digits>[1-4])(?P<period>h))(?:(?:[fc]y)?(?P<short>\d\d))?\b
      | (?P<hour>[01]?\d|2[0-4]):(?P<minutes>[0-5]\d)(?![:\d])
      | (?P<hour>[01]\d|2[0-4])(?P<minutes>[0-5]\d)(?=[ ](?:GMT|BST|UTC)\b)
      | (?P<duration>\d+(?::\d\d)+)
      | (?P<digits>(?P<decade>(?<!['\u2019])\d0))s\b | (?P<decade>\d{{1,3}}0)s\b
      | (?P<digits>(?P<decade>\d0|\d{{3}}0))(?=['\u2019]s\b)
      | (?P<digits>[1-9]\d?)(?=/(?P<below>[1-9]\d?)(?![\w/]))
      | (?<=(?<![\w/])(?P<above>[1-9]\d?)/)(?P<digits>[1-9]\d?)(?![\w/])
      | (?P<whole>\d+)[ -](?P<above>\d)/(?P<below>[1-9]\d?)(?![\w/])
      | (?P<digits>\d+)(?:st|nd|rd|th)\b(?P<ordinal>)
      | (?:(?=\d\d?\.(?P<minutes>[0-5]\d)(?!\d)))?(?=[.\d{FRACTIONS}])
        (?P<digits>{DIGITS})?(?:[ ]?(?P<fraction>[{FRACTIONS}]))? )
    {_AND_A_PART}?
    (?:{_SPACE}?(?P<word>{_any(SCALES | SHORT_SCALES)})(?![\w'\u2019]))*+
    (?:[ ]?(?(money)(?P<word>{_any(SCALE_LETTERS)})|(?P<shared>{_any(SCALE_LETTERS)}))(?![\w'\u2019]))?
    {_AND_A_PART}?
    (?(ordinal)(?:{_SPACE}(?:fiscal[ ])?{_PART_OF_YEAR}|(?={_TO}\w+{_SPACE}{_PART_OF_YEAR}))?)
    (?:[ ]?(?P<clock>{_CLOCK}))?
    (?={_TO}(?:\p{{L}}+[ ]|[\d.,:]*\d[ ]?)(?:(?P<shared>{_any(_ALL_SCALES)})\b|(?P<clock>{_CLOCK})))?
    """,
    regex.IGNORECASE | regex.VERBOSE,
)

#: Words behind a number that can change its value, and what is before a number that is a part of something.
_CONTINUING = frozenset(
    [
        *map(str.casefold, _FIRST_WORDS),
        *_ALL_SCALES,
        *(f"{part}s" for part in PARTS),
        "and",
        "to",
        "or",
        "am",
        "pm",
        "gmt",
        "bst",
        "utc",
        "o",
        "s",
        "fiscal",
        "party",
        "parties",
    ]
)
_TIGHT = ("'", "\u2019", "-", "\u2010", "\u2011", "\u2013", "\u2014", "/")

#: Words that are numbers alone.
_ALONE = {word: frozenset([float(value)]) for word, value in CARDINALS.items()} | {
    word: frozenset([float(value), round(1 / value, 4)]) for word, value in ORDINALS.items()
}
_JOINED = str.maketrans("", "", f"{THOUSANDS} ")


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        first, stop: the tokens that it is written with, from the first to before ``stop``.
        values: what it can be read as: "5m" can be 5 (meters) and 5,000,000.
    """

    first: int
    stop: int
    values: frozenset[Reading]


def numbers_of(tokens: Tokens) -> list[Number]:
    """The numbers of a text, in order."""
    numbers: list[Number] = []
    stop = 0
    candidates = [
        index
        for index, written in enumerate(tokens.written)
        if written in _FIRST_WORDS or not (written.isalpha() or written.endswith("."))
    ]
    for first in candidates:
        if first < stop or tokens.continues_word(first):
            continue
        word = tokens.written[first].casefold().translate(_JOINED)
        if (word.isdecimal() or word in _ALONE) and _is_alone(tokens, first):
            if word not in AMBIGUOUS:
                values = _ALONE.get(word) or frozenset([float(word)])
                numbers.append(Number(first, first + 1, values))
            continue
        match = _NUMBER.match(tokens.text, tokens.starts[first])
        if match and match[0].casefold() not in AMBIGUOUS:
            stop = max(first + 1, bisect_left(tokens.starts, match.end()))
            numbers.append(Number(first, stop, _readings(match)))
    return numbers


def _is_alone(tokens: Tokens, position: int) -> bool:
    """Whether what is around a word adds nothing to its value; a shortcut, since most numbers are such."""
    around = tokens.written[max(0, position - 1) : position + 2]
    before, after = around[0].casefold(), around[-1].casefold()
    is_last = tokens.gaps[position + 1].startswith((",", ".", ")"))
    return (
        (is_last or (after.isalpha() and after not in _CONTINUING))
        and (before not in BEFORE_HOURS or tokens.written[position][2:].isdecimal())
        and not around[0].isupper()
        and not tokens.gaps[position].endswith(_TIGHT)
    )


def decades_of(values: Iterable[Reading]) -> set[Reading]:
    """The decades that years, or ages, are in."""
    return {
        f"{value // 10:g}0s"
        for value in values
        if isinstance(value, float) and (20 <= value < 100 or 1000 <= value < 2100)
    }


def _readings(match: regex.Match[str]) -> frozenset[Reading]:
    captures = match.capturesdict()
    groups = {name: texts[-1].casefold() for name, texts in captures.items() if texts}
    value = _value(groups, captures["word"])
    readings: set[Reading] = {groups["duration"]} if "duration" in groups else set()
    if not groups.keys().isdisjoint(["digits", "fraction", "word"]) and (
        "digits" in groups or "decade" not in groups
    ):
        readings.add(value)
    if "short" in groups:
        readings |= {1900 + float(groups["short"]), 2000 + float(groups["short"])}
    if "decade" in groups:
        centuries = ("",) if value >= 100 else ("", 18, 19, 20)
        readings |= {f"{century}{value:02g}s" for century in centuries}
    if "period" in groups:
        readings.add(f"{groups['period'][0]}{value:g}")
    if not groups.keys().isdisjoint(["minutes", "clock"]) and value <= 24:
        readings.add(f"{int(value) % 12}:{groups.get('minutes', '00')}")
    if "letters" in groups and "digits" in groups:
        readings.add(groups["letters"] + groups["digits"])
    if "above" in groups or "below" in groups:
        above, below = (float(groups.get(name) or groups["digits"]) for name in ("above", "below"))
        readings.add(round(float(groups.get("whole", 0)) + above / below, 4))
    if "ordinal" in groups and value:
        readings.add(round(1 / value, 4))
    if "shared" in groups:
        readings.add(round(value * _ALL_SCALES[groups["shared"]], 4))
    return frozenset(readings)


def _value(groups: Mapping[str, str], words: Iterable[str]) -> float:
    """The value of digits, of words, or of both: "1.5 million"."""
    digits = groups.get("digits") or groups.get("hour") or groups.get("decade") or "0"
    total, part = 0.0, float(digits.translate(_JOINED))  # part: below the next scale
    if "fraction" in groups:
        part += unicodedata.numeric(groups["fraction"])
    if "century" in groups:
        part = 100.0 * CARDINALS[groups["century"]]
    scale = 1.0
    for word in map(str.casefold, words):
        if word in _ALL_SCALES:
            scale = _ALL_SCALES[word]
            part = (part or 1) * scale
            if word != "hundred":
                total, part = total + part, 0.0
        elif word in _VALUES:
            part += _VALUES[word]
        else:
            of_whole = PARTS[regex.split(_SPACE, word)[-1].removesuffix("s")]
            part = part + scale / of_whole if word.startswith("and") else (part or 1) / of_whole
    return round(total + part, 4)
