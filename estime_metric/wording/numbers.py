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

#: Name of a part of the pattern -> the words that it matches, or a pattern of parts that are above it.
_PATTERN = {
    name: _any(words)
    for name, words in {
        "cardinals": CARDINALS,
        "small": [*CARDINALS][1:10],
        "large": [*CARDINALS][10:],
        "tens": TENS,
        "ordinals": ORDINALS,
        "decades": DECADES,
        "parts": PARTS,
        "scales": SCALES,
        "scales_of_digits": SCALES | SHORT_SCALES,
        "scale_letters": SCALE_LETTERS,
        "all_scales": _ALL_SCALES,
        "before_hours": BEFORE_HOURS,
        "currencies": CURRENCIES,
    }.items()
} | {"_": _SPACE, "digits": DIGITS, "fractions": FRACTIONS}
_GRAMMAR = {
    "scale": r"(?P<word>%(scales)s)\b",
    "below_100": r"(?:(?P<word>%(tens)s)\b(?:%(_)s(?P<word>%(small)s)\b)?|(?P<word>%(cardinals)s)\b)",
    "scaled": r"(?:(?:%(below_100)s%(_)s)?%(scale)s(?:%(_)s%(scale)s)*+)",
    "ordinal": r"""(?:(?P<word>%(tens)s)%(_)s)?(?P<word>%(ordinals)s)\b(?P<ordinal>)
        | (?:(?:%(scaled)s|%(below_100)s)%(_)s)?(?P<word>(?:hundred|thousand|million)(?=th\b))th(?P<ordinal>)""",
    "in_words": r"""
        (?: (?P<word>%(small)s)%(_)s(?P<word>(?:%(parts)s)s)\b
          | (?P<word>(?:one%(_)s)?(?:half|quarter)|one%(_)s(?:%(parts)s))\b )
        (?:%(_)s(?:of[ ])?an?[ ]%(scale)s)?
        | (?:(?P<century>eighteen|nineteen|twenty)%(_)s)?(?P<word>%(decades)s)\b(?P<decade>)
        | (?P<century>twenty|(?:thir|four|fif|six|seven|eigh|nine)teen)[ ](?=%(large)s)%(below_100)s(?!-)
        | %(ordinal)s
        | %(scaled)s(?:%(_)s(?:and%(_)s)?%(scaled)s)*+(?:%(_)s(?:and%(_)s)?(?:%(ordinal)s|%(below_100)s))?
        | (?P<word>noon|midnight)\b(?P<clock>)
        | %(below_100)s""",
    "in_digits": r"""
        (?=\d[qh])(?:(?P<hour>[1-4])(?P<period>q)|(?P<digits>[1-4])(?P<period>h))(?:(?:[fc]y)?(?P<short>\d\d))?\b
        | (?P<hour>[01]?\d|2[0-4]):(?P<minutes>[0-5]\d)(?![:\d])
        | (?P<hour>[01]\d|2[0-4])(?P<minutes>[0-5]\d)(?=[ ](?:GMT|BST|UTC)\b)
        | (?P<duration>\d+(?::\d\d)+)
        | (?P<digits>(?P<decade>(?<!['\u2019])\d0))s\b | (?P<decade>\d{1,3}0)s\b
        | (?P<digits>(?P<decade>\d0|\d{3}0))(?=['\u2019]s\b)
        | (?P<digits>[1-9]\d?)(?=/(?P<below>[1-9]\d?)(?![\w/]))
        | (?<=(?<![\w/])(?P<above>[1-9]\d?)/)(?P<digits>[1-9]\d?)(?![\w/])
        | (?P<whole>\d+)[ -](?P<above>\d)/(?P<below>[1-9]\d?)(?![\w/])
        | (?P<digits>\d+)(?:st|nd|rd|th)\b(?P<ordinal>)
        | (?:(?=\d\d?\.(?P<minutes>[0-5]\d)(?!\d)))?(?=[.\d%(fractions)s])
          (?P<digits>%(digits)s)?(?:[ ]?(?P<fraction>[%(fractions)s]))?""",
    # between the numbers of a range: "$5 to $7 billion"
    "to": r"(?:[ ]?[-\u2010-\u2014][ ]?|[ -](?:to|and|or)[ -])\p{Sc}?",
    "clock": r"(?P<clock>(?:[ap]\.?m|o['\u2019]clock|GMT|BST|UTC)\b)",
    "and_a_part": r"(?:[ ](?P<word>and[ ](?:an?[ ]|one[ -])?(?:half|quarter))\b)?",
    "period": r"(?P<period>quarters?|half|halves)\b",
    # a number with what surrounds it, in groups by what they mean
    "number": r"""
        (?!(?:third|3rd)%(_)spart(?:y|ies)\b)
        (?:(?<=\b(?:%(before_hours)s)[ ])(?P<clock>))?
        (?:(?<=['\u2019]|\b\d{4}[-\u2010-\u2014/])(?=(?P<short>\d\d)\b))?
        (?:(?<=\b(?P<letters>\p{L}+)-|\b(?P<letters>(?-i:\p{Lu})+)[ ]))?
        (?:(?<=(?P<money>\p{Sc}|\b(?:%(currencies)s))[ ]?)|(?P<money>%(currencies)s))?
        (?: (?=\p{L})(?:%(in_words)s | (?P<period>[qh])(?P<hour>[1-4])(?:[fc]y(?P<short>\d\d))?\b
            | [fc]y(?:(?P<digits>\d{4})|(?P<short>\d\d))\b)
          | %(in_digits)s )
        %(and_a_part)s(?:%(_)s?(?P<word>%(scales_of_digits)s)(?![\w'\u2019]))*+
        (?:[ ]?(?(money)(?P<word>%(scale_letters)s)|(?P<shared>%(scale_letters)s))(?![\w'\u2019]))?%(and_a_part)s
        (?(ordinal)(?:%(_)s(?:fiscal[ ])?%(period)s|(?=%(to)s\w+%(_)s%(period)s))?)(?:[ ]?%(clock)s)?
        (?=%(to)s(?:\p{L}+[ ]|[\d.,:]*\d[ ]?)(?:(?P<shared>%(all_scales)s)\b|%(clock)s))?""",
}
for _name, _pattern in _GRAMMAR.items():
    _PATTERN[_name] = _pattern % _PATTERN
_NUMBER = regex.compile(_PATTERN["number"], regex.IGNORECASE | regex.VERBOSE)

#: Words behind a number that can change its value.
_CONTINUING = frozenset(
    [
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
        "hundredth",
        "thousandth",
        "millionth",
        "half",
        "quarter",
        "party",
        "parties",
    ]
).union(_VALUES, _ALL_SCALES, (f"{part}s" for part in PARTS))
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
    if "period" in groups:
        readings.add(f"{groups['period'][0]}{value:g}")
        if "ordinal" in groups:  # "third quarter" is not three of anything
            return frozenset(readings)
    if not groups.keys().isdisjoint(["digits", "fraction", "word"]) and (
        "digits" in groups or "decade" not in groups
    ):
        readings.add(value)
    if "short" in groups:
        readings |= {1900 + float(groups["short"]), 2000 + float(groups["short"])}
    if "decade" in groups:
        centuries = ("",) if value >= 100 else ("", 18, 19, 20)
        readings |= {f"{century}{value:02g}s" for century in centuries}
    if ("minutes" in groups or ("clock" in groups and value % 1 == 0)) and value <= 24:
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
