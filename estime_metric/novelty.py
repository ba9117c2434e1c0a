"""How much of a summary's wording its source does not have, which of its names and numbers, and how much it
copies; no encoder is needed.

Importing this module loads no torch.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import regex

from estime_metric.checks import check_pairs
from estime_metric.english import (
    ABBREVIATIONS,
    AMBIGUOUS,
    CARDINALS,
    ENDINGS,
    FUNCTION_WORDS,
    LEAST,
    NOT_NEW,
    ORDINALS,
    PEOPLES,
    ROMAN_NUMERALS,
    SCALE_LETTERS,
    SCALES,
    TENS,
    TITLES,
    WITH_PERIOD,
)

#: The measures that the texts alone decide, in this order.
NOVELTY = (
    "new_words",
    "new_bigrams",
    "new_trigrams",
    "copied_density",
    "new_names",
    "new_numbers",
)

#: Kinds of what a summary has and its source does not.
NEW_NAME, NEW_NUMBER = "new name", "new number"

#: The longest n-grams that are counted.
LONGEST = 3

Ngram = tuple[str, ...]

#: Scripts without spaces between words: each character of theirs is a word.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

#: A character of such a script with its marks, or a run of other letters, digits, marks and ``_``;
#: words of ASCII, which nearly all are, come first only because they are found faster.
_WORD = regex.compile(
    r"[a-z0-9_]++(?![\p{L}\p{N}\p{M}])"
    rf"|[{_UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{N}}\p{{M}}_]--[{_UNSPACED}]]++",
    regex.VERSION1,
)

#: Characters that are not shown, and which the tokenizers of encoders drop: the soft hyphen, spaces
#: and joiners without width, marks of direction.
_NOT_SHOWN = regex.compile(r"\p{Cf}")

#: Ligatures and full-width forms -> the letters, digits and signs that they show.
_SHOWN_AS = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0xFB00, 0xFB07), *range(0xFF01, 0xFF5F))
}

#: A negation at the end of a word or, in a text that is split into tokens, alone: "didn't", "did n't".
_NEGATION = regex.compile(r"(?<![^\p{L}\s])n['\u2019]t\b")

#: Words without a capital within a name: "University of the Arts".
_LINKS = frozenset(["of", "the", "and", "for", "in", "on", "at", "de", "la", "del", "van", "von"])

_LONGEST_RUN = 8  # words of a name whose initials are tried
_LONGEST_NUMBER = 12  # words of a number, such as "two hundred and five thousand"
_SPACES = (" ", "\u00a0", "-", "\u2010", "\u2011")

#: A letter of a script with spaces between words.
_LETTER = rf"(?:(?![{_UNSPACED}])[\p{{L}}\p{{M}}_])"

#: A word as it is written, with characters that are not shown; "Don't" is "Do" and a negation.
_WRITTEN = (
    r"\p{L}+(?=[nN]['\u2019][tT]\b)"
    r"|[A-Za-z0-9_]++(?![\p{L}\p{N}\p{M}\p{Cf}])"
    rf"|[{_UNSPACED}]\p{{M}}*"
    rf"|[[\p{{L}}\p{{N}}\p{{M}}_]--[{_UNSPACED}]][[\p{{L}}\p{{N}}\p{{M}}\p{{Cf}}_]--[{_UNSPACED}]]*+"
)

_THOUSANDS = ",\u00a0\u2009\u202f"  # between thousands: a comma, or a space at which no line breaks
_THOUSANDS_JOINED = str.maketrans("", "", _THOUSANDS)

#: Digits, with thousands joined and decimals (but not "10.30am"), and the letters behind them; letters with a point behind each; a word.
_TOKEN = regex.compile(
    rf"(?<!{_LETTER})(?P<digits>(?:\d{{1,3}}(?:[{_THOUSANDS}]\d{{3}})+(?!\d)|\d+)(?:(?<!\d\.\d+)\.\d+(?!\.?\d|\s?[ap]\.?m\b))?)(?P<behind>{_LETTER}*)"
    r"|(?P<dotted>(?<![\w.])(?:\p{L}\p{Ll}?\.){2,}(?:\p{L}(?!\w))?)"
    rf"|(?P<word>{_WRITTEN})",
    regex.VERSION1,
)

#: What an answer begins with: "Here is a summary in 79 words:".
_OPENING = regex.compile(r"\s*[^\n:]*(?i:\bsummar|\d[ -]words?\b)[^\n:]*:")
#: A remark on the length: "(79 words)", "Word count: 79".
_WORD_COUNT = regex.compile(
    r"(?i)[(\[][^()\[\]]*\d[ -]words?\b[^()\[\]]*[)\]]|\bword count:?\s*\d+"
)
#: The number of an item of a list.
_ITEM = regex.compile(r"(?m)^[ \t]*\d+[.)](?=\s)")
_CLOSES_QUOTATION = "\"'\u2019\u201d\u00bb"
#: A period that may not end a sentence: of an abbreviation, of initials ("J. Smith", "U.S. troops").
_ABBREVIATED = regex.compile(r"(?<!\w)(?P<word>\p{L}+)\.$|(?:(?<!\w)\p{Lu}|(?:\p{L}\.)+\p{L})\.$")
#: A quotation mark directly before a word, but not an apostrophe within a name.
_QUOTATION = regex.compile(r"(?<!\w)[\"'`\u2018\u201c\u00ab\u201e\u201a][*_]*$")


def novelty(predictions: Sequence[str], sources: Sequence[str]) -> dict[str, list[float]]:
    """The fractions of new words, bigrams and trigrams of each summary, how long the runs of words are
    that it copies, and how many new names and numbers it has: the same numbers as a result of
    `EstimeScorer` has, without an encoder.

    Args:
        predictions: the summaries.
        sources: the source text of each summary.

    Returns:
        For each measure a list of floats, one per summary, in input order. ``new_words``,
        ``new_bigrams`` and ``new_trigrams`` are between 0 (all occur in the source) and 1 (none
        does). ``copied_density`` is 0 or more; it is 0 for a summary without words. ``new_names``
        and ``new_numbers`` are counts (see `SourceWording.new_facts`); ``new_names`` is NaN for a
        summary whose capitals say nothing (see `has_capitals`).

    Raises:
        TypeError, ValueError: the arguments are not lists of strings of the same length, or a source
            has no letter and no digit; the message names the index.

    Source: See, Liu & Manning 2017, section 7.2 (novel n-grams); Grusky, Naaman & Artzi 2018
    (Newsroom), section 4 (density).

    Example:
        >>> novelty(["A red dog sat."], ["The red dog sat on the mat."])["new_words"]
        [0.25]
        >>> novelty(["A red dog sat."], ["The red dog sat on the mat."])["copied_density"]
        [2.25]
    """
    summaries, texts = check_pairs(predictions, sources)
    rows_by_source: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        rows_by_source.setdefault(text, []).append(row)
    columns = {measure: [0.0] * len(texts) for measure in NOVELTY}
    for text, rows in rows_by_source.items():
        wording = SourceWording.of(text)  # one at a time: it is far larger than its text
        for row in rows:
            for measure, value in wording.novelty(summaries[row]).items():
                columns[measure][row] = value
    return columns


@dataclass(frozen=True)
class SourceWording:
    """The words and n-grams of a source, prepared once for all of its summaries.

    Attributes:
        text: the source.
        words: its `lower_words`, `joined`.
        ngrams: for each size from 1 to `LONGEST`, the n-grams that occur.
    """

    text: str
    words: str
    ngrams: dict[int, frozenset[Ngram]]

    @classmethod
    def of(cls, source: str) -> SourceWording:
        """The wording of a text."""
        words = lower_words(source)
        sizes = range(1, LONGEST + 1)
        occurring = {size: frozenset(ngrams(words, size)) for size in sizes}
        return cls(source, joined(words), occurring)

    def novelty(self, prediction: str) -> dict[str, float]:
        """The measures `NOVELTY` of a summary, by name.

        Each occurrence of an n-gram counts. A summary that is shorter than n words has the share of
        the next shorter n-grams; a summary without words has 1 for each share.

        Example:
            >>> SourceWording.of("The red dog sat.").novelty("A red dog sat")
            {'new_words': 0.25, 'new_bigrams': 0.333..., 'new_trigrams': 0.5, 'copied_density': 2.25,
             'new_names': 0.0, 'new_numbers': 0.0}
        """
        words = lower_words(prediction)
        shares: list[float] = []
        for size in range(1, LONGEST + 1):
            runs = ngrams(words, size)
            if runs:
                shares.append(sum(run not in self.ngrams[size] for run in runs) / len(runs))
            else:
                shares.append(shares[-1] if shares else 1.0)
        squares = sum(length**2 for length in fragment_lengths(words, self.words))
        tokens = tokens_of(prediction)
        names, numbers = self._facts.new_names_and_numbers(prediction, tokens)
        return {
            **dict(zip(NOVELTY, shares, strict=False)),
            "copied_density": squares / max(1, len(words)),
            "new_names": float(len(names)) if not words or has_capitals(tokens) else math.nan,
            "new_numbers": float(len(numbers)),
        }

    def new_facts(self, prediction: str) -> list[NewFact]:
        """The names and the numbers of a summary that the source has in no written form, each once, in
        the order of the summary. The rules are made for English.

        Forms of a word are the same if they differ in capitals, marks ("Nicolás") and points ("U.S.",
        "US"), or if one is the other's abbreviation ("Jan."). A name is not new if the source has the
        name that it belongs to ("Venezuelan", "Venezuela"), or its initials, or a name with its letters
        as initials. Numbers are compared by their values, in digits ("1,200", "4th") or in words; of
        a date or a range each part is a number. Units, currencies and percent are not compared.

        A name begins with a capital, and not with a sentence, a line or a quotation; new words that
        follow one another are one name. Numbers in a phrase that announces a summary ("Here is a
        summary in 79 words:") are not counted.

        Example:
            >>> wording = SourceWording.of("Twelve people from the U.S. met Anna on 4 January.")
            >>> summary = "On Jan. 4th, 12 or 15 Americans had dinner with Bob Miller."
            >>> [(summary[fact.start : fact.end], fact.kind) for fact in wording.new_facts(summary)]
            [('15', 'new number'), ('Americans', 'new name'), ('Bob Miller', 'new name')]
        """
        return self._facts.new_facts(prediction)

    def written_spans(self, prediction: str) -> list[tuple[int, int]]:
        """Begin and end of what the source has in another form, and of phrases that announce a summary:
        words there are not new, whatever `lower_words` finds.
        """
        return self._facts.written_spans(prediction)

    @cached_property
    def _facts(self) -> SourceFacts:
        return SourceFacts(self.text)


def lower_words(text: str) -> list[str]:
    """The words of a text, lower-cased, in Unicode form NFC and without characters that are not
    shown: runs of letters, digits and ``_``; in scripts without spaces, such as Chinese, single
    characters. Ligatures and full-width forms are the letters that they show, and a negation
    (``n't``) is a word, whether or not a space separates it.

    Example:
        >>> lower_words("It's 1,200 well-kept cars.")
        ['it', 's', '1', '200', 'well', 'kept', 'cars']
        >>> lower_words("didn't") == lower_words("did n't") == ["did", "nt"]
        True
        >>> lower_words("北京2008年")
        ['北', '京', '2008', '年']
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", _NOT_SHOWN.sub("", text).translate(_SHOWN_AS))
    words: list[str] = _WORD.findall(_NEGATION.sub(" nt", text.lower()))
    return words


def ngrams(words: list[str], size: int) -> list[Ngram]:
    """The runs of ``size`` words, in order; none if there are fewer words."""
    return list(zip(*(words[start:] for start in range(size)), strict=False))


def joined(words: Iterable[str]) -> str:
    """Words between single spaces, in which `fragment_lengths` looks for runs of words."""
    return f" {' '.join(words)} "


def fragment_lengths(prediction: Sequence[str], source: str) -> list[int]:
    """The lengths of the extractive fragments of a summary, in its order.

    From left to right, the longest run of words that begins here and occurs anywhere in the source
    is a fragment; the next one begins behind it. The published procedure passes over occurrences
    within a run that it has just tried, so that in a source that repeats itself ("no no no way") it
    may find a shorter run than the longest.

    Args:
        prediction: the words of the summary.
        source: the words of the source, `joined`.

    Source: Grusky, Naaman & Artzi 2018 (Newsroom), section 4 and Fig. 3.

    Example:
        >>> fragment_lengths(["a", "red", "dog", "sat"], joined(["the", "red", "dog", "sat"]))
        [3]
    """
    lengths = []
    start = 0
    while start < len(prediction):
        run, at, stop = " ", 0, start  # the run is source[at : at + len(run)]
        while stop < len(prediction):
            word = f"{prediction[stop]} "
            run, end = run + word, at + len(run)
            if not source.startswith(word, end):
                at = source.find(run, at)
            if at < 0:
                break
            stop += 1
        if stop > start:
            lengths.append(stop - start)
        start = max(stop, start + 1)
    return lengths


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a number of a text, ``text[start:end]``.

    Attributes:
        form: the word without capitals, marks and points, its abbreviation written out.
        values: what a number can mean: "5m" can be 5 (meters) and 5,000,000; empty for a word.
        is_capitalized: whether it begins with a capital.
        capitals: its capital letters, in lower case, if there are several; otherwise empty.
    """

    start: int
    end: int
    form: str
    values: frozenset[float] = frozenset()
    is_capitalized: bool = False
    capitals: str = ""


@dataclass(frozen=True, slots=True)
class NewFact:
    """A name or a number of a summary that its source has in no written form: ``prediction[start:end]``.

    Attributes:
        kind: `NEW_NAME` or `NEW_NUMBER`.
        nearest: begin and end of the most similar name or number of the source; ``None`` if nothing is similar.
    """

    start: int
    end: int
    kind: str
    nearest: tuple[int, int] | None


class SourceFacts:
    """The names and numbers of a source, prepared once for all of its summaries."""

    def __init__(self, source: str) -> None:
        self.tokens = tokens_of(source)
        self._words = {token.form for token in self.tokens}
        self._names = {
            form
            for token in self.tokens
            if token.is_capitalized
            for form in related_forms(token.form)
        }
        self._values = frozenset().union(*(token.values for token in self.tokens)) | {
            ROMAN_NUMERALS[token.form] for token in self.tokens if _is_roman_numeral(token)
        }
        self._capitals = {token.capitals for token in self.tokens if token.capitals}
        self._initials = {
            initials
            for part in _parts_of_names(source, self.tokens)
            for initials in _initials(part)
        }

    def new_facts(self, prediction: str) -> list[NewFact]:
        """See `SourceWording.new_facts`."""
        names, numbers = self.new_names_and_numbers(prediction, tokens_of(prediction))
        facts = [
            NewFact(name[0].start, name[-1].end, NEW_NAME, self._nearest_name(form))
            for form, name in names.items()
        ]
        facts += [
            NewFact(token.start, token.end, NEW_NUMBER, self._nearest_number(token))
            for token in numbers
        ]
        return sorted(facts, key=lambda fact: fact.start)

    def new_names_and_numbers(
        self, prediction: str, tokens: Sequence[Token]
    ) -> tuple[dict[str, list[Token]], list[Token]]:
        """Returns the tokens of each new name of a summary, by its form, and the new numbers, each at its
        first occurrence. ``tokens`` are the `tokens_of` the summary.
        """
        names: dict[str, list[Token]] = {}
        runs = self._new_names(prediction, tokens)
        for run in runs:
            names.setdefault(" ".join(token.form for token in run), run)
        ignored = _announcements(prediction, runs)
        numbers: dict[object, Token] = {}
        for token in tokens:
            is_ignored = any(start <= token.start < end for start, end in ignored)
            is_named = not token.values and token.form in names  # a code, such as "A320", is a name
            if self._is_new_number(token) and not is_ignored and not is_named:
                numbers.setdefault(token.values or token.form, token)
        return names, list(numbers.values())

    def written_spans(self, prediction: str) -> list[tuple[int, int]]:
        """See `SourceWording.written_spans`."""
        tokens = tokens_of(prediction)
        spelled_out = self._spelled_out(prediction, tokens)
        written = [
            (token.start, token.end)
            for token in tokens
            if (token.values and not token.values.isdisjoint(self._values))
            or (token.is_capitalized and (token.start in spelled_out or self._has_name(token)))
        ]
        return [*written, *_announcements(prediction, self._new_names(prediction, tokens))]

    def _is_new_number(self, token: Token) -> bool:
        if token.values:
            return token.form not in NOT_NEW and token.values.isdisjoint(self._values)
        is_code = any(character.isnumeric() for character in token.form)  # such as "A320"
        return is_code and token.form not in self._words

    def _new_names(self, prediction: str, tokens: Sequence[Token]) -> list[list[Token]]:
        """The runs of new words with a capital that nothing else explains; none if capitals say nothing."""
        if not has_capitals(tokens):
            return []
        spelled_out = self._spelled_out(prediction, tokens)
        runs: list[list[Token]] = []
        for token in tokens:
            if (
                not token.is_capitalized
                or token.values
                or len(token.form) < 2
                or (token.form in FUNCTION_WORDS and not token.capitals)
                or token.form in TITLES
                or token.start in spelled_out
                or self._has_name(token)
                or _begins_sentence(prediction, token.start)
            ):
                continue
            if runs and prediction[runs[-1][-1].end : token.start] in _SPACES:
                runs[-1].append(token)
            else:
                runs.append([token])
        return runs

    def _spelled_out(self, prediction: str, tokens: Sequence[Token]) -> set[int]:
        """Where the words of names begin that the source has as initials."""
        return {
            token.start
            for part in _parts_of_names(prediction, tokens)
            if not _initials(part).isdisjoint(self._capitals)
            for token in part
        }

    def _has_name(self, token: Token) -> bool:
        is_initialism = token.form in self._initials or token.capitals in self._initials
        if token.capitals and (
            token.form in FUNCTION_WORDS or token.form == "us"
        ):  # "WHO" is not "who"
            return is_initialism or token.form in self._capitals
        return (
            is_initialism
            or token.form in self._words
            or (_is_roman_numeral(token) and ROMAN_NUMERALS[token.form] in self._values)
            or not self._names.isdisjoint(related_forms(token.form))
        )

    def _nearest_name(self, name: str) -> tuple[int, int] | None:
        names = {token.form: token for token in reversed(self.tokens) if token.is_capitalized}
        for similar in get_close_matches(name, names, n=1):
            return names[similar].start, names[similar].end
        return None

    def _nearest_number(self, token: Token) -> tuple[int, int] | None:
        value = min(token.values, default=0.0)
        numbers = [(abs(min(other.values) - value), other) for other in self.tokens if other.values]
        if not numbers or not token.values:
            return None
        _, nearest = min(numbers, key=lambda number: number[0])
        return nearest.start, nearest.end


def _announcements(prediction: str, names: Sequence[Sequence[Token]]) -> list[tuple[int, int]]:
    """Begin and end of what a summary says of itself, without a new name, and of the numbers of a list."""
    spans = [*_WORD_COUNT.finditer(prediction), *_ITEM.finditer(prediction)]
    opening = _OPENING.match(prediction)
    if opening and not any(name[0].start < opening.end() for name in names):
        spans.append(opening)
    return [match.span() for match in spans]


def tokens_of(text: str) -> list[Token]:
    """The words and numbers of a text, in order; a number in several words is one token."""
    matches = list(_TOKEN.finditer(text))
    tokens: list[Token] = []
    index = 0
    while index < len(matches):
        match = matches[index]
        values, length = _number_at(text, matches[index : index + _LONGEST_NUMBER])
        end = matches[index + length - 1].end()
        written = text[match.start() : end]
        capitals = "".join(character for character in written if character.isupper())
        tokens.append(
            Token(
                start=match.start(),
                end=end,
                form="" if written in AMBIGUOUS else _plain(written),
                values=values,
                is_capitalized=written[0].isupper(),
                capitals=_plain(capitals) if len(capitals) > 1 else "",
            )
        )
        index += length
    return tokens


def _is_roman_numeral(token: Token) -> bool:
    return token.form in ROMAN_NUMERALS and token.form == token.capitals


def related_forms(form: str) -> set[str]:
    """A word, and the names that it can belong to: "venezuelan" and "venezuela"."""
    forms = {form, PEOPLES.get(form.removesuffix("s"), form)} | {
        form.removesuffix(derived) + base
        for base, derived in ENDINGS
        if form.endswith(derived) and len(form) - len(derived) + len(base) >= LEAST
    }
    return forms | {PEOPLES[name] for name in forms & PEOPLES.keys()}


def has_capitals(tokens: Sequence[Token]) -> bool:
    """Whether capitals say something in a text: not if no word begins with one, or more than half of the
    longer words do, as in a headline.
    """
    longer = [
        token.is_capitalized
        for token in tokens
        if not token.values and token.end - token.start >= LEAST
    ]
    return any(token.is_capitalized for token in tokens) and 2 * sum(longer) <= len(longer)


def _plain(written: str) -> str:
    """A word without capitals, marks and points, its abbreviation written out."""
    letters = unicodedata.normalize("NFKD", written).casefold()
    form = "".join(
        letter
        for letter in letters
        if unicodedata.category(letter) not in ("Mn", "Mc", "Me", "Cf") and letter != "."
    )
    return ABBREVIATIONS.get(form, form)


def _number_at(text: str, matches: Sequence[regex.Match[str]]) -> tuple[frozenset[float], int]:
    """The values of the number that begins with the first match, and how many matches it has; no value, 1 for a word."""
    first, *following = matches
    words = [
        _joined_word(text, before, match) for before, match in zip(matches, following, strict=False)
    ]
    if digits := first["digits"]:
        number = float(digits.translate(_THOUSANDS_JOINED))
        if first["behind"] == "s":  # "the 1990s" are "the 90s"
            return frozenset({number, number % 100}), 1
        if first["behind"]:
            scale = SCALE_LETTERS.get(first["behind"].casefold(), 1)
            return frozenset({number, number * scale}), 1
        length = next((index for index, word in enumerate(words) if word not in SCALES), len(words))
        for word in words[:length]:
            number *= SCALES[word]
        return frozenset({number}), 1 + length
    return _number_in_words([first.group().casefold(), *words])


def _joined_word(text: str, before: regex.Match[str], match: regex.Match[str]) -> str:
    """A word, if only a space or a hyphen lies before it; otherwise nothing."""
    return match.group().casefold() if text[before.end() : match.start()] in _SPACES else ""


def _number_in_words(words: Sequence[str]) -> tuple[frozenset[float], int]:
    """The value of the number that the first words are, and how many they are; no value, 1 if they are none."""
    total, part, length = 0.0, 0.0, 0  # part: below the next scale
    room = 100.0  # what follows has to be smaller: twenty-one, but not one-twenty
    for index, word in enumerate(words):
        value = CARDINALS.get(word, ORDINALS.get(word))
        if word == "second" and room == 10.0:
            value = 2
        if value is not None and value < room:
            part += value
            room = 10.0 if word in TENS.split() else 1.0
        elif word in SCALES and (not index or words[index - 1] not in SCALES or word != "hundred"):
            part = max(part, 1.0) * SCALES[word]
            if word != "hundred":
                total, part = total + part, 0.0
            room = 100.0
        elif word == "and" and length and words[length - 1] in SCALES:
            continue
        else:
            break
        length = index + 1
        if word in ORDINALS or word == "second":
            break
    if not length or (length == 1 and words[0] in AMBIGUOUS):
        return frozenset(), 1
    return frozenset({total + part}), length


def _parts_of_names(text: str, tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Every run of words with capitals, with links such as "of" between them; at least two have one."""
    for first, token in enumerate(tokens):
        if not token.is_capitalized or token.values:
            continue
        capitalized = 1
        for last in range(first + 1, min(first + _LONGEST_RUN, len(tokens))):
            following = tokens[last]
            between = text[tokens[last - 1].end : following.start]
            if following.values or between not in (*_SPACES, ", ", " & "):
                break
            if following.is_capitalized:
                capitalized += 1
                yield tokens[first : last + 1]
            elif following.form not in _LINKS:
                break


def _initials(name: Sequence[Token]) -> set[str]:
    """The initials of a name, with those of its links and without them."""
    return {
        "".join(token.form[0] for token in name),
        "".join(token.form[0] for token in name if token.is_capitalized),
    }


def _begins_sentence(text: str, start: int) -> bool:
    """Whether a word is the first one of a text, a line, a sentence or a quotation."""
    line = text[:start].rpartition("\n")[2]
    before = line.rstrip(" \t\u00a0([{*_#-\u2013\u2014\u2022")
    if not before or _QUOTATION.search(line) or _ITEM.fullmatch(f"{before} ", endpos=len(before)):
        return True
    before = before.rstrip(_CLOSES_QUOTATION)
    if before.endswith("."):
        abbreviated = _ABBREVIATED.search(before)
        word = abbreviated and abbreviated["word"]
        return abbreviated is None or (
            word and len(word) > 1 and word.casefold() not in WITH_PERIOD
        )
    return before.endswith(("!", "?", ":", "\u2026"))
