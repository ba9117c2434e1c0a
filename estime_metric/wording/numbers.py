"""Numbers: the values that a number can be read as, in digits or in words."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from estime_metric.wording.english import (
    AMBIGUOUS,
    BEFORE_HOURS,
    CARDINALS,
    CURRENCIES,
    DECADES,
    MONTHS,
    ORDINALS,
    PARTS,
    SCALE_LETTERS,
    SCALES,
    SHORT_SCALES,
    TENS,
)
from estime_metric.wording.tokens import DIGITS, FRACTIONS, Tokens

#: What a number can be read as: its value, or what is not one: "7:30" for a time (of either half of the day),
#: "1990s" for a decade, "q3" for a quarter, "f16" for a code.
Reading = float | str

_ALL_SCALES = SCALES | SHORT_SCALES | SCALE_LETTERS
_SCALE_VALUES = {1.0, *_ALL_SCALES.values()}
_VALUES = CARDINALS | ORDINALS | DECADES | {"noon": 12, "midnight": 12, "v": 5, "x": 10}

#: Words that can begin a number.
_FIRST_WORDS = frozenset(
    written
    for word in (*_VALUES, *SCALES, *PARTS)
    for lower in (word, f"{word}th", f"{word}fold")
    for written in (lower, lower.capitalize(), lower.upper())
)


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_SPACE = "[ -]"

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
    # between the numbers of a range: "$5 to $7 billion"
    "to": r"(?:[ ]?[-\u2012-\u2014][ ]?|[ -](?:to|and|or)[ -])\p{Sc}?",
    "scale": r"(?P<word>%(scales)s)\b",
    "below_100": r"(?:(?P<word>%(tens)s)\b(?:%(_)s(?P<word>%(small)s)\b)?|(?P<word>%(cardinals)s)(?:fold)?\b)",
    "scaled": r"(?:(?:%(below_100)s%(_)s)?%(scale)s(?:%(_)s%(scale)s)*+)",
    "ordinal": r"""(?:(?P<word>%(tens)s)%(_)s)?(?P<word>%(ordinals)s)\b(?P<ordinal>)
        | (?:(?:%(scaled)s|%(below_100)s)%(_)s)?(?P<word>(?:hundred|thousand|million)(?=th\b))th(?P<ordinal>)""",
    "in_words": r"""
        (?: (?P<word>%(small)s)%(_)s(?P<word>(?:%(parts)s)s)\b
          | (?P<word>(?:one%(_)s)?(?:half|quarter)|(?:one%(_)s|(?<=\ba[ ])(?=\w+[ ]of\b))(?:%(parts)s))\b )
        (?:%(_)s(?:of[ ])?an?%(_)s%(scale)s)?
        | (?:(?P<century>eighteen|nineteen|twenty)%(_)s)?(?P<word>%(decades)s)\b(?P<decade>)
        | (?P<century>twenty|(?:thir|four|fif|six|seven|eigh|nine)teen)
          (?:%(_)s(?=%(large)s)%(below_100)s(?!-)|%(_)shundreds\b(?P<decade>))
        | %(ordinal)s
        | (?P<word>noon|midnight)\b(?P<clock>)
        | (?-i:(?<=\p{Lu}\p{Ll}+[ ])(?P<word>(?P<roman>[VX])))(?![\w'&-]|\.[ ]?\p{Lu})
        | (?:%(scaled)s(?:%(_)s(?:and%(_)s)?%(scaled)s)*+(?:%(_)s(?:and%(_)s)?(?:%(ordinal)s|%(below_100)s))?
            | %(below_100)s)
          (?:(?<!\bat[ ]one)%(_)s(?P<word>point(?:%(_)s(?:%(cardinals)s|oh)\b)+))?""",
    # what is directly behind digits begins with one of :/' or is a letter
    "marked_digits": r"""
        (?=\d[qh])(?:(?P<hour>[1-4])(?P<period>q)|(?P<digits>[1-4])(?P<period>h))(?:(?:[fc]y)?(?P<short>\d\d))?\b
        | (?P<hour>[01]?\d|2[0-4]):(?P<minutes>[0-5]\d)(?::00)?(?![:\d])
        | (?P<digits>(?P<decade>(?<!')\d0))s\b | (?P<decade>\d{1,3}0)s\b
        | (?P<digits>(?P<decade>\d0|\d{3}0))(?='s\b)
        | (?P<digits>[1-9]\d?)(?=/(?P<below>[1-9]\d?)(?![\w/]))
        | (?P<digits>\d+)(?:st|nd|rd|th)\b(?P<ordinal>)""",
    "in_digits": r"""
        (?=\d++[:/'\p{L}])(?:%(marked_digits)s)
        | (?<=(?<![\w/])(?P<above>[1-9]\d?)/)(?P<digits>[1-9]\d?)(?![\w/])
        | (?P<whole>\d+)[ -](?P<above>\d)/(?P<below>[1-9]\d?)(?![\w/])
        | (?:(?=\d\d?\.(?P<minutes>[0-5]\d)(?!\.?\d)))?(?=[.\d%(fractions)s])
          (?P<digits>%(digits)s)?(?:[ ]?(?P<fraction>[%(fractions)s]))?""",
    "clock": r"(?P<clock>(?:[ap]\.?m|o'?clock|GMT|BST|UTC)\b)",
    "and_a_part": r"(?:%(_)s(?P<word>and%(_)s(?:an?%(_)s|one%(_)s)?(?:half|quarter))\b)?",
    # "22%%", "a quarter of", "1 in 4"
    "share": r"""(?:(?=[ ]?(?:%%|per[ ]?cent)(?P<percent>)|[ ]of\b(?P<of>)
        |[ ]in[ ](?P<base>\d{1,3}|%(cardinals)s)\b(?![ ,.]?\d)))?""",
    "period": r"(?P<period>quarters?|half|halves)\b",
    # a number with what surrounds it, in groups by what they mean
    "number": r"""
        (?:(?<=\b(?P<part>\d{1,3}|%(cardinals)s)[ ]in[ ]))?
        (?:(?<=\b(?:%(before_hours)s)[ ])(?P<clock>))?
        (?:(?<='|\b\d{4}[-\u2012-\u2014/])(?=(?P<short>\d\d)\b(?!-)))?
        (?:(?<=\b(?:versions?|release|v)\.?[ ])(?P<version>)|(?P<version>v)(?=\d))?
        (?:(?<=\b(?P<letters>\p{L}+)-|\b(?P<letters>(?-i:\p{Lu})+)[ ]))?
        (?:(?<=(?P<money>\p{Sc}|\b(?:%(currencies)s))[ ]?)|(?P<money>%(currencies)s))?
        (?: (?=\p{L})(?:%(in_words)s | (?P<period>[qh])(?P<hour>[1-4])(?:[fc]y(?P<short>\d\d))?\b
            | [fc]y(?:(?P<digits>\d{4})|(?P<short>\d\d))\b)
          | %(in_digits)s )
        %(and_a_part)s(?:%(_)s?(?=[bcdhlmt])(?P<word>%(scales_of_digits)s)(?![\w']))*+
        (?:[ ]?(?(money)(?P<word>%(scale_letters)s)|(?P<letter>%(scale_letters)s))(?![\w']|(?<=[ ].)-)
          |(?=[ -]?(?P<unit>[kmbt])))?%(and_a_part)s
        (?(ordinal)(?:%(_)s(?:fiscal[ ])?%(period)s|(?=%(to)s\w+%(_)s%(period)s)
          |(?=(?:%(to)s(?:\w+[ ])?\w+)?%(_)scentur(?:y|ies)\b)(?P<centuries>))?)(?:[ ]?%(clock)s)?%(share)s
        (?=%(to)s(?:\p{L}+[ ]|[\d.,:]*\d[ ]?)(?:(?P<shared>%(all_scales)s)\b|%(clock)s))?""",
}
for _name, _pattern in _GRAMMAR.items():
    _PATTERN[_name] = _pattern % _PATTERN
_NUMBER = regex.compile(_PATTERN["number"], regex.IGNORECASE | regex.VERBOSE)

_GROUPS = sorted(_NUMBER.groupindex, key=_NUMBER.groupindex.__getitem__)

#: Different numbers whose readings are kept, for all texts together.
_KEPT = 2**12

_MONTH = r"(?P<month>(?:0?[1-9]|1[0-2])(?!\d))"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?!\d)"
_IN_DATES = frozenset("-/.")

#: A date in digits: 2024-05-03, 5/3/2024, 03.05.2024, 3/5/24, 5/2024; of two parts each can be the month.
_DATE = regex.compile(
    rf"""(?<!\d[/.,:]|(?<!/\d{{3}})\d[-\u2012-\u2014])
        (?:[12]\d{{3}}(?P<between>[-/.]){_MONTH}(?P=between){_DAY}
          | (?:{_MONTH}|{_DAY})(?P<between>[-/.])(?:{_MONTH}|{_DAY})(?P=between)
            (?:[12]\d{{3}}|(?:(?<=/)|(?<=\b0\d.\d\d?.|\b\d\d?.0\d.))(?P<short>\d\d))
          | {_MONTH}/[12]\d{{3}})
        (?!\w|(?P=between)\d|[.,]\d)""",
    regex.VERBOSE,
)

_JOINED = str.maketrans("", "", ", ")


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        tokens: positions of the tokens that it is written with.
        values: what it can be read as: "5m" can be 5 (meters) and 5,000,000.
        step: how much one more in its last digit is, in digits: 0.1 of "55.9", 100,000 of "1.2 million"; 0 of a year.
        share: the percents of "22%", "0.22", "a quarter of" and "1 in 4", and their step.
    """

    tokens: range
    values: frozenset[Reading]
    step: float
    share: tuple[float, float] | None


def numbers_of(tokens: Tokens, *, of_source: bool = False) -> list[Number]:
    """The numbers of a text, in order; of a source with what only can be one: "one" in "one person", a bare "210" as meters."""
    numbers: list[Number] = []
    of_dates: dict[int, frozenset[Reading]] = {}
    stop = 0
    can_begin = {
        written
        for written in tokens.different
        if written in _FIRST_WORDS or not (written.isalpha() or written.endswith("."))
    }
    for first in [i for i, written in enumerate(tokens.written) if written in can_begin]:
        if first < stop or tokens.continues_word(first):
            continue
        start = tokens.starts[first]
        if tokens.gaps[first + 1] in _IN_DATES:
            of_dates.update(_of_date(tokens.text, start))
        match = _NUMBER.match(tokens.text, start)
        if match and (
            match[0].casefold() not in AMBIGUOUS
            or (
                of_source
                and (tokens.has_word(first + 1, first + 1) or tokens.has_word(first - 1, first))
            )
        ):
            stop = max(first + 1, bisect_left(tokens.starts, match.end()))
            values, step, share = _readings(match.groups(), tuple(match.captures("word")))
            values |= of_dates.get(start, frozenset())
            if of_source and not tokens.has_word(stop, stop):
                values |= _with_and_without_meters(values)
            numbers.append(Number(range(first, stop), values, step, share))
    return numbers


def _with_and_without_meters(values: frozenset[Reading]) -> frozenset[Reading]:
    meters = {
        float(value[:-2]) for value in values if isinstance(value, str) and value.endswith(" m")
    }
    return values.union(meters, (f"{value:g} m" for value in values if isinstance(value, float)))


def _of_date(text: str, start: int) -> Iterator[tuple[int, frozenset[Reading]]]:
    """Where a date in digits begins: for each part of it that can be a month or is a short year, where it
    begins, and what it can be read as.
    """
    match = _DATE.match(text, start)
    if match:
        for begin, end in match.spans("month"):
            yield begin, frozenset(MONTHS[int(text[begin:end]) - 1 :][:1])
        for begin, end in match.spans("short"):
            yield begin, _years(text[begin:end])


def _years(short: str) -> frozenset[Reading]:
    return frozenset([1900 + float(short), 2000 + float(short)])


def implied_by(values: Iterable[Reading]) -> set[Reading]:
    """What follows from numbers: from years, and ages, their decades and centuries."""
    numbers = [value for value in values if isinstance(value, float)]
    years = list(filter(is_year, numbers))
    ages = [value for value in numbers if 20 <= value < 100]
    return {
        *(f"{value // 10:g}0s" for value in years + ages),
        *(f"{value // 100:g}00s" for value in years),
    }


def is_year(value: float) -> bool:
    """Whether a number can be a year: years do not round and have no scale."""
    return 1000 <= value < 2100 and value % 1 == 0


#: "(In millions)", "(Dollars in thousands)", "$ in 000s", "Population (millions)"
_SCALE_OF_ALL = regex.compile(
    r"(?i)(?:\((?:[^()\n]{0,40}\bin )?|\p{Sc} ?in )(thousand|million|billion|000)s\b"
)


def in_declared_scale(text: str, values: Iterable[Reading]) -> set[Reading]:
    """The numbers of a text, years excepted, times the scale that it declares for all: "(In millions)".

    Example:
        >>> in_declared_scale("(Dollars in thousands) Sales 24 in 2015", [24.0, 2015.0])
        {24000.0}
    """
    if not any(scale in text for scale in ("illions", "ousands", "000s")):
        return set()
    return {
        _rounded(value * SCALES.get(scale.lower(), 1e3))
        for scale in {match[1] for match in _SCALE_OF_ALL.finditer(text)}
        for value in values
        if isinstance(value, float) and not is_year(value)
    }


@lru_cache(_KEPT)
def _readings(
    captures: Sequence[str | None], words: Sequence[str]
) -> tuple[frozenset[Reading], float, tuple[float, float] | None]:
    """What a match can be read as, its step, and its share.

    Args:
        captures: what each of the groups captured last.
        words: all that the group of words captured.
    """
    groups = {
        name: capture.casefold()
        for name, capture in zip(_GROUPS, captures, strict=True)
        if capture is not None
    }
    value = _value(groups, words)
    readings: set[Reading] = set()
    if "roman" in groups:
        readings.add(groups["roman"])
    if "period" in groups:
        readings.add(f"{groups['period'][0]}{value:g}")
        if "ordinal" in groups:  # "third quarter" is not three of anything
            return frozenset(readings), 0.0, None
    is_written = groups.keys() & {"digits", "fraction", "word"}
    is_decade = "decade" in groups and "digits" not in groups
    if is_written and not is_decade and "letter" not in groups:
        readings.add(value)
    if "short" in groups:
        readings |= _years(groups["short"])
    if "decade" in groups:
        centuries = ("",) if value >= 100 else ("", 18, 19, 20)
        readings |= {f"{century}{value:02g}s" for century in centuries}
    if "centuries" in groups:
        readings.add(f"{value - 1:g}00s")
    hour = float(groups.get("hour", value))
    if ("minutes" in groups or ("clock" in groups and value % 1 == 0)) and 0 <= hour <= 24:
        readings.add(f"{int(hour) % 12}:{groups.get('minutes', '00')}")
    if "letters" in groups and "digits" in groups:
        readings.add(groups["letters"] + groups["digits"])
    if "above" in groups or "below" in groups:
        above, below = (float(groups.get(name) or groups["digits"]) for name in ("above", "below"))
        readings.add(_rounded(float(groups.get("whole", 0)) + above / below))
    if "ordinal" in groups and value:
        readings.add(_rounded(1 / value))
    if "shared" in groups or "letter" in groups:
        scale = groups.get("letter") or groups["shared"]
        readings.add(_rounded(value * _ALL_SCALES[scale]))
    if groups.get("digits", "").endswith("0") and value % 1:  # version 2.10 is not 2.1
        readings.add(groups["digits"])
        if "version" in groups:
            readings.discard(value)
    if "letter" in groups or ("unit" in groups and value in readings):  # 5m, 5 meters
        readings.add(f"{value:g} {(groups.get('letter') or groups['unit'])[0]}")
    step = _step(value, groups)
    return frozenset(readings), step, _share(value, step, groups)


def _share(value: float, step: float, groups: Mapping[str, str]) -> tuple[float, float] | None:
    if "percent" in groups:
        return value, step
    if 0 < value < 1 and ("of" in groups or "." in groups.get("digits", "")):
        return 100 * value, 100 * step
    if "base" in groups:
        return 100 * value / (_small(groups["base"]) or math.inf), 0.0
    if "part" in groups:
        return 100 * _small(groups["part"]) / (value or math.inf), 0.0
    return None


def _small(written: str) -> float:
    return float(CARDINALS.get(written, written))


def _step(value: float, groups: Mapping[str, str]) -> float:
    digits = groups.get("digits", "").translate(_JOINED)
    scale = _rounded(value / (float(digits or 0) or 1.0))
    if (
        not digits or "ordinal" in groups or is_year(value) or scale not in _SCALE_VALUES
    ):  # "5\u00bd" is no scale of 5
        return 0.0
    return scale * 10.0 ** -len(digits.partition(".")[2])


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
        elif word.startswith("point"):
            decimals = regex.split(_SPACE, word)[1:]
            part += float("." + "".join(str(CARDINALS.get(digit, 0)) for digit in decimals))
        else:
            of_whole = PARTS[regex.split(_SPACE, word)[-1].removesuffix("s")]
            part = part + scale / of_whole if word.startswith("and") else (part or 1) / of_whole
    return _rounded(total + part)


def _rounded(value: float) -> float:
    return float(f"{value:.12g}")
