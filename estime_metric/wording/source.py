"""A source, prepared once for all of its summaries: which of their words, names and numbers it does not
have, and how much they copy.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby

from estime_metric.checks import check_pairs
from estime_metric.wording.english import (
    AMBIGUOUS,
    FUNCTION_WORDS,
    NOT_NEW,
    PEOPLES,
    ROMAN_NUMERALS,
    TITLES,
    UMLAUTS,
)
from estime_metric.wording.layout import counts_length, headings, opening, parts, remarks
from estime_metric.wording.names import (
    Entities,
    can_be_name,
    form_of,
    initialism_of,
    initials,
    normalized,
    related_forms,
)
from estime_metric.wording.numbers import (
    Number,
    Reading,
    implied_by,
    in_declared_scale,
    numbers_of,
)
from estime_metric.wording.text import shown
from estime_metric.wording.tokens import SPACES, Tokens
from estime_metric.wording.words import RunsOfWords, located_words, new_shares, repetition, words_of

#: The measures that the texts alone decide, in this order.
NOVELTY = (
    "new_words",
    "new_bigrams",
    "new_trigrams",
    "repetition",
    "copied_density",
    "new_names",
    "new_numbers",
)

#: Kinds of what a summary has and its source does not.
NEW_NAME, NEW_NUMBER = "new name", "new number"

_EMPHASIS = "*_"  # of Markdown

#: Words that are not initialisms in lower case: "WHO" is not "who".
_OTHER_WORDS = FUNCTION_WORDS | {"us"}

#: Of the words that a source writes only with a capital, a summary with capitals writes at most this many times more
#: without one than with one: titles and labels have capitals that the summary does not keep.
_BY_CHANCE = 3

#: In a text in capitals or in Title Case, at least this many times more words within sentences have a capital than
#: have none; in articles, fewer than two times more.
_TITLE_CASE = 3


def novelty(predictions: Sequence[str], sources: Sequence[str]) -> dict[str, list[float]]:
    """The fractions of new words, bigrams and trigrams of each summary, how much it repeats itself, how long the runs of
    words are that it copies, and how many new names and numbers it has: the same numbers as a result of
    `EstimeScorer` has, without an encoder.

    Args:
        predictions: the summaries.
        sources: the source text of each summary.

    Returns:
        For each measure a list of floats, one per summary, in input order. ``new_words``,
        ``new_bigrams`` and ``new_trigrams`` are between 0 (all occur in the source) and 1 (none
        does). ``repetition`` is between 0 and 1 too. ``copied_density`` is 0 or more; it is 0 for a summary without words. ``new_names``
        and ``new_numbers`` are counts (see `SourceWording.read`); ``new_names`` is NaN for a
        summary whose capitals say nothing, such as one in lower case or in Title Case.

    Raises:
        TypeError, ValueError: the arguments are not lists of strings of the same length, or a source
            has no letter and no digit; the message names the index.

    Source: See, Liu & Manning 2017, section 7.2 (novel n-grams); Grusky, Naaman & Artzi 2018
    (Newsroom), section 4 (density); Welleck et al. 2020, section 4 (seq-rep-4).

    Example:
        >>> novelty(["A red dog sat."], ["The red dog sat on the mat."])["new_words"]
        [0.25]
        >>> novelty(["A red dog sat."], ["The red dog sat on the mat."])["copied_density"]
        [2.25]
    """
    summaries, texts = check_pairs(predictions, sources)
    values: list[dict[str, float]] = [{}] * len(texts)
    by_source = sorted(range(len(texts)), key=texts.__getitem__)
    for text, rows in groupby(by_source, texts.__getitem__):
        wording = SourceWording(text)  # one at a time: it is larger than its text
        for row in rows:
            values[row] = wording.novelty(summaries[row])
    return {measure: [value[measure] for value in values] for measure in NOVELTY}


@dataclass(frozen=True, slots=True)
class NewFact:
    """A name or a number of a summary that its source has in no written form: ``prediction[start:end]``.

    Attributes:
        kind: `NEW_NAME` or `NEW_NUMBER`.
    """

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class SummaryWording:
    """The words of a summary, and what of them its source does not have.

    Attributes:
        facts: the names and the numbers that the source has in no written form, each once, in order.
        words: each word, lower-cased, with its begin and end in the summary.
        new_words: begin and end of each word that the source has in no form.
    """

    facts: tuple[NewFact, ...]
    words: tuple[tuple[str, int, int], ...]
    new_words: tuple[tuple[int, int], ...]


class SourceWording:
    """What a source has: words and runs of words, names, numbers. It keeps strings, floats and arrays alone.

    Args:
        text: the source.
    """

    def __init__(self, text: str) -> None:
        read = shown(text)
        self._runs = RunsOfWords(words_of(f"{read.text}\n{read.other}"))
        self.words = self._runs.number_of.keys()
        entities = Entities(read.text, of_source=True)
        different = entities.tokens.different
        other_forms = {
            form
            for form in map(form_of, different)
            if form in AMBIGUOUS or (form and form not in self.words)
        }
        numbers = entities.numbers + numbers_of(Tokens(read.other), of_source=True)
        values = frozenset(value for number in numbers for value in number.values)
        numerals = different & ROMAN_NUMERALS.keys()
        scaled = in_declared_scale(read.text, values)
        self._forms = values.union(
            implied_by(values), scaled, map(ROMAN_NUMERALS.__getitem__, numerals), other_forms
        )
        in_digits = {value for number in numbers if number.step for value in number.values}
        self._floats = sorted(value for value in in_digits | scaled if isinstance(value, float))
        self._shares = sorted(number.share[0] for number in numbers if number.share)
        self.parts = frozenset(
            chain.from_iterable((kind, f"{kind} {match[2]}") for kind, match in parts(read.text))
        )
        names = {entities.tokens.written[position] for position in entities.names}
        initialisms = map(initialism_of if entities.has_capitals else normalized, names)
        self.initialisms = frozenset(initialisms) - {""}
        self.initials = self.initialisms.union(*(short for _, short in entities.with_initials()))
        self._text = read.text
        self.full_names = frozenset(  # two letters are the initials of too many
            short for _, initials in entities.full_names for short in initials if len(short) > 2
        )
        if entities.has_capitals:
            names = set(filter(can_be_name, names))
        names |= {name.translate(UMLAUTS) for name in names}
        self.names = frozenset(
            related
            for form in {*map(form_of, names), *(self.initials & PEOPLES.keys())}
            for related in related_forms(form)
        )
        within, lower = entities.within, entities.lower - FUNCTION_WORDS - AMBIGUOUS
        if not 0 < len(within) < _TITLE_CASE * len(lower):
            within = lower = frozenset()
        self._only_with_capital, self._only_lower = within - entities.lower, lower - within

    @property
    def nbytes(self) -> int:
        """The memory of what it keeps, in bytes."""
        kept = [*vars(self).values(), *vars(self._runs).values()]
        containers = (part for part in kept if isinstance(part, frozenset | list | dict))
        elements = {id(element): element for part in containers for element in part}
        numbers = self._runs.number_of.values()
        return sum(map(sys.getsizeof, [*kept, *elements.values(), *numbers]))

    def novelty(self, prediction: str) -> dict[str, float]:
        """The measures `NOVELTY` of a summary, by name.

        Each occurrence of an n-gram counts. A summary that is shorter than n words has the share of
        the next shorter n-grams; a summary without words has 1 for each share.

        Example:
            >>> SourceWording("The red dog sat.").novelty("A red dog sat")
            {'new_words': 0.25, 'new_bigrams': 0.333..., 'new_trigrams': 0.5, 'repetition': 0.0,
             'copied_density': 2.25, 'new_names': 0.0, 'new_numbers': 0.0}
        """
        summary = _Summary(prediction, self)
        words = words_of(summary.shown.text)
        known_lengths = self._runs.known_lengths(words)
        new_words, new_bigrams, new_trigrams = new_shares(known_lengths)
        fragments = self._runs.fragment_lengths(words, known_lengths)
        is_defined = not words or summary.has_capitals
        return {
            "new_words": new_words,
            "new_bigrams": new_bigrams,
            "new_trigrams": new_trigrams,
            "repetition": repetition(words),
            "copied_density": sum(length**2 for length in fragments) / max(1, len(words)),
            "new_names": float(len(summary.different_names())) if is_defined else math.nan,
            "new_numbers": float(len(summary.new_numbers)),
        }

    def read(self, prediction: str) -> SummaryWording:
        """The words of a summary, and what of them the source does not have. The rules are made for English.

        Forms of a word are the same if they differ in capitals, marks ("Nicolás") and points ("U.S.",
        "US"), or if one is the other's abbreviation ("Jan."). A name is not new if the source has the
        name that it belongs to ("Venezuelan", "Venezuela"), or its initials, or a name with its letters
        as initials. Numbers are compared by their values, in digits ("1,200", "4th") or in words; of
        a date or a range each part is a number. A time, a decade, a quarter and a code ("F-16") are not
        numbers but compared as such. A number of the source has each value that it can be read as, and a
        year is in its decade; a number of the summary is new if the source has none of its values. Units,
        currencies, percent, "a.m." and "p.m." are not compared.

        A name begins with a capital, and not with a sentence, a line or a quotation; new words that
        follow one another are one name. Numbers in a phrase that announces a summary ("Here is a
        summary in 79 words:") are not counted, and its words are not new.

        Example:
            >>> wording = SourceWording("Twelve people from the U.S. met Anna on 4 January.")
            >>> summary = "On Jan. 4th, 12 or 15 Swedes had dinner with Bob Miller."
            >>> [(summary[fact.start : fact.end], fact.kind) for fact in wording.read(summary).facts]
            [('15', 'new number'), ('Swedes', 'new name'), ('Bob Miller', 'new name')]
        """
        summary = _Summary(prediction, self)
        span, tokens = summary.shown.span, summary.entities.tokens
        facts = [(name, NEW_NAME) for name in summary.different_names()]
        facts += [(number, NEW_NUMBER) for number in summary.new_numbers]
        words = located_words(summary.shown.text)
        explained = summary.explained_characters()
        return SummaryWording(
            facts=tuple(
                NewFact(*span(*tokens.span(run)), kind)
                for run, kind in sorted(facts, key=lambda fact: fact[0].start)
            ),
            words=tuple((word, *span(start, end)) for word, start, end in words),
            new_words=tuple(
                span(start, end)
                for word, start, end in words
                if word not in self.words and not explained.issuperset(range(start, end))
            ),
        )

    def has_capitals(self, summary: Entities, titles: set[str]) -> bool:
        """Whether the capitals of a summary say something: not if no word has one, if of the words that the source
        has only with a capital more than three in four have none, or if most of those that it has only
        without one have one. First words of sentences, words of titles and function words are not counted.
        Of a summary without such words, most have no capital.
        """
        within, lower = summary.within - titles, summary.lower
        names, others = self._only_with_capital, self._only_lower
        if not summary.has_capitals:
            return False
        if (names | others).isdisjoint(within | lower):
            return len(within) <= len(lower)
        return len(names & lower) <= _BY_CHANCE * len(names & within) and len(
            others & within
        ) <= len(others & lower)

    def has_number(self, number: Number) -> bool:
        """Whether the source has one of the values that a number can be read as, or one that rounds to it."""
        if any(map(self.has_form, number.values)):
            return True
        if number.share and _has_near(self._shares, *number.share):
            return True
        values = [value for value in number.values if isinstance(value, float)]
        return number.step > 0 and any(
            _has_near(self._floats, value, number.step) for value in values
        )

    def has_form(self, form: Reading) -> bool:
        """Whether the source has a word, a code or a value."""
        return form in self._forms or (form not in AMBIGUOUS and form in self.words)

    def has_name(self, written: str) -> bool:
        """Whether the source has a word with a capital, or what it belongs to."""
        form, initialism = form_of(written), initialism_of(written)
        is_other_word = initialism and form in _OTHER_WORDS
        return (
            initialism in self.initials
            or (len(form) > 2 and form in self.initials)
            or (not is_other_word and self.has_form(form))
            or ROMAN_NUMERALS.get(written) in self._forms
            or not self.names.isdisjoint(
                related_forms(form) | related_forms(form_of(written.translate(UMLAUTS)))
            )
            or (len(initialism) > 2 and initialism in self._initials_of_words)
        )

    @cached_property
    def _initials_of_words(self) -> str:
        return initials(self._text)


class _Summary:
    """A summary, read against its source.

    Attributes:
        shown: what it shows.
        entities: its names and numbers.
        titles: forms of the words that have a capital only in headings and labels.
        has_capitals: whether its capitals say something.
        new_names: the runs of new words with a capital that nothing else explains; none if capitals say nothing.
        new_numbers: the new numbers, each at its first occurrence.
    """

    def __init__(self, prediction: str, source: SourceWording) -> None:
        self._source = source
        self.shown = shown(prediction, source.words)
        self.entities = Entities(self.shown.text)
        self.titles = self._titles(prediction)
        self.has_capitals = source.has_capitals(self.entities, self.titles)
        self.new_names = self._new_names() if self.has_capitals else []
        self.new_numbers = self._new_numbers()

    def _titles(self, prediction: str) -> set[str]:
        """A label behind no number may be a name if the source has no word of it."""
        characters = _positions(
            (start, end)
            for start, end, is_certain in headings(prediction)
            if is_certain
            or not self._source.words.isdisjoint(
                {*words_of(prediction[start:end])} - FUNCTION_WORDS
            )
        )
        if not characters:
            return set()
        tokens = self.entities.tokens
        forms: tuple[set[str], set[str]] = set(), set()  # elsewhere, in titles
        for position in self.entities.names:
            start, _ = self.shown.span(tokens.starts[position], tokens.ends[position])
            forms[start in characters].add(normalized(tokens.written[position]))
        return forms[True] - forms[False]

    def _new_names(self) -> list[range]:
        tokens = self.entities.tokens
        new = {
            written
            for written in {tokens.written[position] for position in self.entities.names}
            if can_be_name(written)
            and normalized(written) not in self.titles
            and not self._source.has_name(written)
        }
        positions = [
            position
            for position in self.entities.names
            if tokens.written[position] in new and position not in self.entities.first_words
        ]
        if not positions:
            return []
        first = opening(tokens.text)
        in_opening = range(*first if tokens.text[slice(*first)].isupper() else (0, 0))
        runs: list[range] = []
        for position in positions:
            start = tokens.starts[position]
            if start in in_opening or start in self._layout or self._is_title(position):
                continue
            gap = tokens.gaps[position].strip(_EMPHASIS)
            continues = runs and runs[-1].stop == position and gap in SPACES
            runs.append(range(runs.pop().start if continues else position, position + 1))
        return runs

    def _is_title(self, position: int) -> bool:
        """Whether a word is a title of somebody whose surname the source has: "President Barack Obama"."""
        written, gaps = self.entities.tokens.written, self.entities.tokens.gaps
        if normalized(written[position]) not in TITLES:
            return False
        last = position
        while gaps[last + 1] in (*SPACES, ". ") and written[last + 1][0].isupper():
            last += 1
        return last > position and self._source.has_name(written[last])

    @cached_property
    def spelled_out(self) -> list[range]:
        """The names that the source has as initials, or as another full name with these."""
        source, entities = self._source, self.entities
        names = [
            name
            for name, initials in entities.with_initials()
            if any(
                short in source.initialisms or PEOPLES.get(short, short) in source.names
                for short in initials
            )
        ]
        return names + [
            name
            for name, initialisms in entities.full_names
            if not source.full_names.isdisjoint(initialisms)
        ]

    def different_names(self) -> list[range]:
        """Each of the new names at its first occurrence."""
        written = self.entities.tokens.written
        by_form = {
            " ".join(form_of(written[position]) for position in name): name
            for name in reversed(self.new_names)
        }
        return list(by_form.values())

    @cached_property
    def announcement(self) -> set[int]:
        """The characters of how it begins, if that announces it: it has no new name, and no number but a length."""
        tokens = self.entities.tokens
        first = {*range(*opening(tokens.text))}
        others = [name.start for name in self.new_names]
        others += [
            number.tokens.start
            for number in self.entities.numbers
            if not counts_length(tokens.text, tokens.span(number.tokens)[1])
        ]
        return first if first.isdisjoint(map(tokens.starts.__getitem__, others)) else set()

    @cached_property
    def _layout(self) -> set[int]:
        """The characters that belong to no new name and no number: those of "World War 1", "(79 words)", "Third, it", and
        parts such as "Table 3". If the source has other tables alone, the 3 is a number.
        """
        tokens, known = self.entities.tokens, self._source.parts
        spans = [*map(tokens.span, self.spelled_out), *remarks(tokens.text)]
        for kind, match in parts(tokens.text):
            is_other = kind in known and f"{kind} {match[2]}" not in known
            spans.append(match.span(1 if is_other else 0))
        return _positions(spans)

    def _new_numbers(self) -> list[range]:
        """The new numbers outside of the layout, and new codes such as "A320" that are in no new name."""
        tokens, source = self.entities.tokens, self._source
        of_names = {
            form_of(tokens.written[name.start]) for name in self.new_names if len(name) == 1
        }
        new: list[tuple[range, frozenset[Reading]]] = []
        for number in self.entities.numbers:
            form = normalized(tokens.text[slice(*tokens.span(number.tokens))])
            if form not in NOT_NEW and not source.has_number(number):
                new.append((number.tokens, number.values))
        for position, written in enumerate(tokens.written):
            is_code = not written.isalpha() and any(map(str.isdigit, written))
            if is_code and position not in self.entities.of_numbers:
                form = form_of(written)
                if not (source.has_form(form) or form in source.initials or form in of_names):
                    new.append((range(position, position + 1), frozenset({form})))
        if not new:
            return []
        layout = self._layout | self.announcement
        numbers: list[range] = []
        seen: set[Reading] = set()
        for run, values in new:
            if tokens.starts[run.start] not in layout and values.isdisjoint(seen):
                numbers.append(run)
                seen |= values
        return numbers

    def explained_characters(self) -> set[int]:
        """The characters that the source has in another form, and those of announcements."""
        source, tokens = self._source, self.entities.tokens
        runs = [number.tokens for number in self.entities.numbers if source.has_number(number)]
        runs += self.spelled_out
        runs += [
            range(position, position + 1)
            for position in self.entities.names
            if source.has_name(tokens.written[position])
        ]
        return _positions(map(tokens.span, runs)) | self.announcement


def _has_near(known: Sequence[float], value: float, step: float) -> bool:
    """Whether a number that is known, in order, rounds to a value whose last digit has this step."""
    position = bisect_left(known, value - step / 2 - 1e-9)
    return position < len(known) and known[position] <= value + step / 2 + 1e-9


def _positions(spans: Iterable[tuple[int, int]]) -> set[int]:
    """All positions in some spans."""
    return {position for start, end in spans for position in range(start, end)}
