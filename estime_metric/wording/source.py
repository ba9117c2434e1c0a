"""A source, prepared once for all of its summaries: which of their words, names and numbers it does not
have, and how much they copy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from estime_metric.checks import check_pairs
from estime_metric.wording.names import (
    ITEM,
    Facts,
    capitals_of,
    form_of,
    is_roman_numeral,
    plain,
    related_forms,
)
from estime_metric.wording.tables import AMBIGUOUS, FUNCTION_WORDS, NOT_NEW, ROMAN_NUMERALS, TITLES
from estime_metric.wording.tokens import SPACES
from estime_metric.wording.words import RunsOfWords, located_words, lower_words

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

#: What an answer begins with: "Here is a summary in 79 words:".
_OPENING = regex.compile(r"\s*[^\n:]*(?i:\bsummar|\d[ -]words?\b)[^\n:]*:")
#: A remark on the length: "(79 words)", "Word count: 79".
_WORD_COUNT = regex.compile(
    r"(?i)[(\[][^()\[\]]*\d[ -]words?\b[^()\[\]]*[)\]]|\bword count:?\s*\d+"
)


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
        wording = SourceWording(text)  # one at a time: it is larger than its text
        for row in rows:
            for measure, value in wording.novelty(summaries[row]).items():
                columns[measure][row] = value
    return columns


@dataclass(frozen=True, slots=True)
class NewFact:
    """A name or a number of a summary that its source has in no written form: ``prediction[start:end]``.

    Attributes:
        kind: `NEW_NAME` or `NEW_NUMBER`.
    """

    start: int
    end: int
    kind: str


class SourceWording:
    """What a source has: words and runs of words, names, numbers. It keeps strings and floats alone, about
    14 bytes per character of the text.

    Args:
        text: the source.
    """

    def __init__(self, text: str) -> None:
        self._runs = RunsOfWords(lower_words(text))
        facts = Facts(text)
        written = frozenset(facts.tokens.written)
        self._other_forms = frozenset(
            form
            for form in map(form_of, written)
            if form in AMBIGUOUS or form not in self._runs.words
        )
        self._names = frozenset(
            form
            for name in {facts.tokens.written[position] for position in facts.names}
            for form in related_forms(form_of(name))
        )
        self._values = frozenset(
            [value for number in facts.numbers for value in number.values]
            + [ROMAN_NUMERALS[plain(word)] for word in written if is_roman_numeral(word)]
        )
        self._capitals = frozenset(map(capitals_of, written)) - {""}
        self._initials = frozenset(
            initials for _, both in facts.with_initials() for initials in both
        )

    def novelty(self, prediction: str) -> dict[str, float]:
        """The measures `NOVELTY` of a summary, by name.

        Each occurrence of an n-gram counts. A summary that is shorter than n words has the share of
        the next shorter n-grams; a summary without words has 1 for each share.

        Example:
            >>> SourceWording("The red dog sat.").novelty("A red dog sat")
            {'new_words': 0.25, 'new_bigrams': 0.333..., 'new_trigrams': 0.5, 'copied_density': 2.25,
             'new_names': 0.0, 'new_numbers': 0.0}
        """
        words = lower_words(prediction)
        squares = sum(length**2 for length in self._runs.fragment_lengths(words))
        facts = Facts(prediction)
        names = self._new_names(facts)
        is_defined = not words or facts.has_capitals()
        return {
            "new_words": self._runs.new_share(words, 1),
            "new_bigrams": self._runs.new_share(words, 2),
            "new_trigrams": self._runs.new_share(words, 3),
            "copied_density": squares / max(1, len(words)),
            "new_names": float(len(_different(facts, names))) if is_defined else math.nan,
            "new_numbers": float(len(self._new_numbers(facts, names))),
        }

    def new_words(self, prediction: str) -> list[tuple[int, int]]:
        """Begin and end of each word of a summary that ``new_words`` counts."""
        return [
            (start, end)
            for word, start, end in located_words(prediction)
            if word not in self._runs.words
        ]

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
            >>> wording = SourceWording("Twelve people from the U.S. met Anna on 4 January.")
            >>> summary = "On Jan. 4th, 12 or 15 Americans had dinner with Bob Miller."
            >>> [(summary[fact.start : fact.end], fact.kind) for fact in wording.new_facts(summary)]
            [('15', 'new number'), ('Americans', 'new name'), ('Bob Miller', 'new name')]
        """
        facts = Facts(prediction)
        names = self._new_names(facts)
        spans = [(name, NEW_NAME) for name in _different(facts, names)]
        spans += [(number, NEW_NUMBER) for number in self._new_numbers(facts, names)]
        return [
            NewFact(facts.tokens.starts[span[0]], facts.tokens.ends[span[-1]], kind)
            for span, kind in sorted(spans, key=lambda span: span[0][0])
        ]

    def written_spans(self, prediction: str) -> list[tuple[int, int]]:
        """Begin and end of what the source has in another form, and of phrases that announce a summary:
        words there are not new, whatever `lower_words` finds.
        """
        facts = Facts(prediction)
        tokens = facts.tokens
        spelled_out = self._spelled_out(facts)
        spans = [
            range(number.first, number.stop)
            for number in facts.numbers
            if not number.values.isdisjoint(self._values)
        ]
        spans += [
            range(position, position + 1)
            for position in facts.names
            if position in spelled_out or self._has_name(tokens.written[position])
        ]
        written = [(tokens.starts[span[0]], tokens.ends[span[-1]]) for span in spans]
        return [*written, *_announcements(facts, self._new_names(facts))]

    def _new_names(self, facts: Facts) -> list[range]:
        """The runs of new words with a capital that nothing else explains; none if capitals say nothing."""
        if not facts.has_capitals():
            return []
        spelled_out = self._spelled_out(facts)
        runs: list[range] = []
        for position in facts.names:
            written = facts.tokens.written[position]
            if (
                position in spelled_out
                or not _can_be_name(written)
                or self._has_name(written)
                or facts.begins_sentence(position)
            ):
                continue
            if runs and runs[-1].stop == position and facts.tokens.gaps[position] in SPACES:
                runs[-1] = range(runs[-1].start, position + 1)
            else:
                runs.append(range(position, position + 1))
        return runs

    def _new_numbers(self, facts: Facts, names: Sequence[range]) -> list[range]:
        """The new numbers outside of announcements, and new codes such as "A320" that are in no new name;
        each at its first occurrence.
        """
        tokens = facts.tokens
        of_names = {form_of(tokens.written[name[0]]) for name in names if len(name) == 1}
        new: list[tuple[range, object]] = []
        for number in facts.numbers:
            form = plain(tokens.text[tokens.starts[number.first] : tokens.ends[number.stop - 1]])
            if form not in NOT_NEW and number.values.isdisjoint(self._values):
                new.append((range(number.first, number.stop), number.values))
        for position, written in enumerate(tokens.written):
            if position not in facts.of_numbers and any(map(str.isnumeric, written)):
                form = form_of(written)
                if not self._has_form(form) and form not in of_names:
                    new.append((range(position, position + 1), form))
        ignored = _announcements(facts, names)
        numbers: dict[object, range] = {}
        for span, value in new:
            if not any(start <= tokens.starts[span[0]] < end for start, end in ignored):
                numbers.setdefault(value, span)
        return list(numbers.values())

    def _spelled_out(self, facts: Facts) -> set[int]:
        """The words of names that the source has as initials."""
        return {
            position
            for name, initials in facts.with_initials()
            if not initials.isdisjoint(self._capitals)
            for position in name
        }

    def _has_form(self, form: str) -> bool:
        return form in self._other_forms or (form not in AMBIGUOUS and form in self._runs.words)

    def _has_name(self, written: str) -> bool:
        form, capitals = form_of(written), capitals_of(written)
        is_initialism = form in self._initials or capitals in self._initials
        if capitals and (form in FUNCTION_WORDS or form == "us"):  # "WHO" is not "who"
            return is_initialism or form in self._capitals
        return (
            is_initialism
            or self._has_form(form)
            or (is_roman_numeral(written) and ROMAN_NUMERALS[form] in self._values)
            or not self._names.isdisjoint(related_forms(form))
        )


def _can_be_name(written: str) -> bool:
    """Whether a word with a capital is more than a function word, a title or a letter."""
    form = form_of(written)
    is_function_word = form in FUNCTION_WORDS and not capitals_of(written)
    return len(form) > 1 and not is_function_word and form not in TITLES


def _different(facts: Facts, names: Sequence[range]) -> list[range]:
    """Each name at its first occurrence."""
    first: dict[str, range] = {}
    for name in names:
        form = " ".join(form_of(facts.tokens.written[position]) for position in name)
        first.setdefault(form, name)
    return list(first.values())


def _announcements(facts: Facts, names: Sequence[range]) -> list[tuple[int, int]]:
    """Begin and end of what a summary says of itself, without a new name, and of the numbers of a list."""
    text = facts.tokens.text
    spans = [*_WORD_COUNT.finditer(text), *ITEM.finditer(text)]
    opening = _OPENING.match(text)
    if opening and not any(facts.tokens.starts[name[0]] < opening.end() for name in names):
        spans.append(opening)
    return [match.span() for match in spans]
