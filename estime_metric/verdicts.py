"""What each word of a summary is: found in the source, an alarm, absent or new, with its evidence."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Any

import torch

from estime_metric.checks import check_choice
from estime_metric.engine.matching import SMALLEST_SIMILARITY, MatchedPair, Matches
from estime_metric.engine.splitter import Span, find_splitter, locate_in
from estime_metric.engine.statistics import graded_alarms
from estime_metric.measures import MEASURES, RECOMMENDED
from estime_metric.passages import Passage
from estime_metric.wording.english import FUNCTION_WORDS
from estime_metric.wording.source import NEW_NAME, NEW_NUMBER, SummaryWording

#: In the order in which units decide about their word. ``alarm``: the most similar source unit is a different
#: unit (Eq. 1). ``match``: it is the same unit. ``absent``: the unit does not occur in the source (or the
#: tokenizer does not know it), so it is not checked.
VERDICTS = ("alarm", "match", "absent")

#: Reasons to look at a word, the likeliest errors first.
KINDS = (NEW_NAME, NEW_NUMBER, "new word", "alarm")

#: Zero-width joiner, as in emoji of several people. Grapheme clusters would extend into other units.
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The span ``source[start:end]``, in characters, and the dot product of the embeddings (the
    cosine if ``normalize`` is set); higher means more similar.
    """

    start: int
    end: int
    similarity: float


@dataclass(frozen=True, slots=True)
class UnitVerdict:
    """The verdict on one unit of the summary.

    Attributes:
        start, end: character offsets of the unit; its text is ``prediction[start:end]``.
        verdict: one of ``VERDICTS``.
        best: the most similar source unit; ``None`` if the source has no units.
        same: the most similar source unit that is the same token or word; ``None`` if the source
            does not contain it.
        margin: the similarity of ``same`` minus the similarity of the best different unit; negative
            for an alarm, ``None`` if one of the two is missing.
        graded_alarm: what the unit adds to ``graded_alarms``: 0 to 1, more than .5 for an alarm. It is
            0 for an absent unit, and if the source has no other unit to compare with.
    """

    start: int
    end: int
    verdict: str
    best: Evidence | None
    same: Evidence | None
    margin: float | None
    graded_alarm: float = 0.0

    @property
    def relative_margin(self) -> float | None:
        """The margin divided by the best similarity, so that it is comparable across encoders."""
        if self.margin is None or self.best is None:
            return None
        return self.margin / max(abs(self.best.similarity), SMALLEST_SIMILARITY)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, for JSON: the attributes."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordVerdict(UnitVerdict):
    """The verdict on a word of the summary, or on a new name or number of several words.

    It is an alarm if one of its units is an alarm, otherwise a match if one of them is a match, otherwise
    absent. Its evidence comes from the unit that has the word's verdict and the lowest margin, extended
    to whole words of the source.

    Attributes:
        text: the word, ``prediction[start:end]``.
        same: as for a unit; ``None`` also if the word is new, because the source has only a part of it then.
        best_text: what the source has at ``best``; ``None`` if ``best`` is.
        kind: why the word may be an error: ``"new name"``, ``"new number"`` or ``"new word"`` if the source
            lacks it, otherwise ``"alarm"`` if it raises one, otherwise ``None``. Names and numbers are
            new if the source has them in no written form, see `SourceWording.read`. Any other
            word is new if the source lacks this spelling of a part of it ("backed" of "US-backed", "males" if
            it has only "male").
        is_content: whether it is more than punctuation, citations and function words, such as "the".
        is_written: whether the source has all of it, in other capitals or in another form. If such a
            word is absent, the encoder has no token for it, or the source has another form.
        units: how many units it consists of.
        passage: which passage of the source has ``best``; ``None`` if the source is one text.
    """

    text: str
    best_text: str | None
    kind: str | None
    is_content: bool
    is_written: bool
    units: int = 1
    passage: int | str | None = None

    @property
    def is_new(self) -> bool:
        """Whether the source lacks the word or a part of it."""
        return self.kind not in ("alarm", None)

    @property
    def is_minor(self) -> bool:
        """Whether the word is punctuation or a function word, and not a new name or number."""
        return not self.is_content and self.kind not in (NEW_NAME, NEW_NUMBER)


@dataclass(frozen=True, repr=False)
class Verdicts:
    """The verdicts on all units of one summary, in its order.

    Attributes:
        prediction: the summary.
        source: the text that the summary was compared with.
        units: one verdict for each token (or word, by ``unit``) of the summary.
        unit: ``"token"`` or ``"word"``.
        layer: the hidden layer that was read.
        signature: as in an `EstimeResult`.
        statistics: the numbers of the pair at this layer from which every measure is computed, as the
            engine counts them: those of `STATISTICS` that the configuration needs.
        wording: the words of the summary, and which of them the source does not have.
        passages: the passages that the source was joined from; none if it was one text.
    """

    prediction: str
    source: str
    units: tuple[UnitVerdict, ...]
    unit: str
    layer: int
    signature: str
    statistics: Mapping[str, float]
    wording: SummaryWording
    passages: tuple[Passage, ...] = ()

    @property
    def alarms(self) -> int:
        """The score: how many units raise an alarm, lower is better. With the unit ``word``, these are
        the words whose best match begins with a different token if no word was checked.
        """
        return int(self.statistics["alarms"])

    @property
    def inconsistency(self) -> float:
        """The recommended measure of the pair, 0 to 1; lower is better."""
        return self.value(RECOMMENDED)

    @property
    def graded_alarms(self) -> float:
        """The sum of the graded alarms of all checked units; lower is better."""
        return self.statistics["graded_alarms"]

    @property
    def overlap(self) -> int:
        """How many units were checked."""
        return int(self.statistics["overlap"])

    @property
    def tokens(self) -> int:
        """How many units the summary has."""
        return len(self.units)

    def value(self, measure: str) -> float:
        """A measure of the pair, as in `EstimeResult.values`. Raises ValueError if there is no such
        measure, or if the configuration does not compute it.
        """
        statistics = {
            name: torch.tensor(value, dtype=torch.float64, device="cpu")
            for name, value in self.statistics.items()
        }
        computed = [name for name, entry in MEASURES.items() if statistics.keys() >= {*entry.needs}]
        check_choice("measure", measure, computed)
        return float(MEASURES[measure](statistics))

    @cached_property
    def words(self) -> tuple[WordVerdict, ...]:
        """The verdicts on the words, in the order of the summary. The words do not overlap: units that
        share a character, such as the tokens of a fraction sign, belong to one word.
        """
        facts = self.wording.facts
        kind_at = _by_position((fact.kind, fact.start, fact.end) for fact in facts)
        word_at = _by_position(self.wording.words)
        lacking = {at for start, end in self.wording.new_words for at in range(start, end)}
        whole = _Spans(
            [*((fact.start, fact.end) for fact in facts), *self._words_of(self.prediction)]
        )
        source_words = _Spans(self._words_of(self.source))
        words = []
        for units, (start, end) in _groups(self.units, whole):
            text = self.prediction[start:end]
            positions = range(start, end)
            kinds = [kind_at[position] for position in positions if position in kind_at]
            lower_words = {word_at[position] for position in positions if position in word_at}
            is_lacking = not lacking.isdisjoint(positions)
            deciding = _deciding(units)
            best = source_words.widened(deciding.best)
            kinds += ["new word"] * is_lacking + ["alarm"] * (deciding.verdict == "alarm")
            kind = min(kinds, key=KINDS.index, default=None)
            words.append(
                WordVerdict(
                    start=start,
                    end=end,
                    verdict=deciding.verdict,
                    best=best,
                    same=source_words.widened(deciding.same) if kind in ("alarm", None) else None,
                    margin=deciding.margin,
                    graded_alarm=deciding.graded_alarm,
                    text=text,
                    best_text=None if best is None else self.source[best.start : best.end],
                    kind=kind,
                    is_content=not lower_words <= FUNCTION_WORDS,
                    is_written=not is_lacking and bool(lower_words),
                    units=len(units),
                    passage=self._passage(best),
                )
            )
        return tuple(words)

    def _words_of(self, text: str) -> list[Span]:
        """Begin and end of each word that can have several units."""
        return locate_in(text, find_splitter("regex"))[1] if self.unit == "token" else []

    def _passage(self, evidence: Evidence | None) -> int | str | None:
        if evidence is None or not self.passages:
            return None
        index = bisect_right(self.passages, evidence.start, key=attrgetter("start")) - 1
        return self.passages[index].id

    def surest_words(self, *, function_words: bool = False) -> tuple[WordVerdict, ...]:
        """The words with a kind, the likeliest errors first: new names, new numbers, other new words, then
        alarms, the most negative margin first. Words of the same rank are in the order of the summary.

        Args:
            function_words: also function words, such as "the", and punctuation.
        """

        def rank(word: WordVerdict) -> tuple[int, float]:
            margin = word.margin or 0.0
            return KINDS.index(word.kind or ""), margin if word.kind == "alarm" else 0.0

        likely = [
            word for word in self.words if word.kind and (function_words or not word.is_minor)
        ]
        return tuple(sorted(likely, key=rank))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON: the texts, the counts, ``inconsistency``,
        ``units``, ``words`` and ``passages``.
        """
        return {
            "prediction": self.prediction,
            "source": self.source,
            "inconsistency": self.inconsistency,
            "alarms": self.alarms,
            "graded_alarms": self.graded_alarms,
            "overlap": self.overlap,
            "tokens": self.tokens,
            "unit": self.unit,
            "layer": self.layer,
            "units": [unit.to_dict() for unit in self.units],
            "words": [word.to_dict() for word in self.words],
            "passages": [asdict(passage) for passage in self.passages],
            "signature": self.signature,
        }


def unit_verdicts(
    prediction: str, source: str, pair: MatchedPair, layer_index: int
) -> tuple[UnitVerdict, ...]:
    """The verdicts on all units of a summary at one of the layers that were read, from its matches on the
    CPU.
    """
    occurring = pair.prediction.occurring
    matches = Matches._make(values[layer_index].clone() for values in pair.every)
    if occurring.any():  # the checked units may have separate embeddings
        for values, checked_values in zip(matches, pair.checked, strict=True):
            values[torch.from_numpy(occurring)] = checked_values[layer_index]
    summary_spans = _whole_characters(prediction, pair.prediction.units.spans.tolist())
    source_spans = _whole_characters(source, pair.source.spans.tolist())
    same, other = (
        [
            _evidence(*match, source_spans)
            for match in zip(similarities.tolist(), at.tolist(), strict=True)
        ]
        for similarities, at in ((matches.same, matches.same_at), (matches.other, matches.other_at))
    )
    verdicts = map(
        _verdict,
        summary_spans,
        occurring.tolist(),
        matches.alarms.tolist(),
        graded_alarms(matches).tolist(),
        same,
        other,
    )
    return tuple(verdicts)


def _verdict(
    span: Span,
    checked: bool,
    alarm: bool,
    graded_alarm: float,
    same: Evidence | None,
    other: Evidence | None,
) -> UnitVerdict:
    best = other if alarm else same
    if not checked:
        return UnitVerdict(*span, "absent", best, None, None)
    margin = None if same is None or other is None else same.similarity - other.similarity
    return UnitVerdict(*span, "alarm" if alarm else "match", best, same, margin, graded_alarm)


def _evidence(similarity: float, at: int, spans: list[Span]) -> Evidence | None:
    return None if similarity == -math.inf else Evidence(*spans[at], similarity)


def _whole_characters(text: str, spans: list[list[int]]) -> list[Span]:
    """The spans, each extended by the marks and joiners that follow it and belong to no other span."""
    whole = []
    for number, (start, end) in enumerate(spans):
        following = spans[number + 1][0] if number + 1 < len(spans) else len(text)
        while start < end < following and (
            unicodedata.category(text[end])[0] == "M" or text[end] == _JOINER
        ):
            end += 1
        whole.append((start, end))
    return whole


class _Spans:
    """Spans of a text; those that overlap are one."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._merged: list[Span] = []
        for start, end in sorted(spans):
            if self._merged and start < self._merged[-1][1]:
                first, last = self._merged.pop()
                start, end = first, max(last, end)
            self._merged.append((start, end))

    def widen(self, start: int, end: int) -> Span:
        """The given span, extended to the beginning and the end of the one in which it begins."""
        index = bisect_right(self._merged, start, key=itemgetter(0)) - 1
        if index < 0 or start >= self._merged[index][1]:
            return start, end
        return self._merged[index][0], max(end, self._merged[index][1])

    def widened(self, evidence: Evidence | None) -> Evidence | None:
        """Evidence at the span to which its own is extended."""
        if evidence is None:
            return None
        return Evidence(*self.widen(evidence.start, evidence.end), evidence.similarity)


def _groups(
    units: Sequence[UnitVerdict], whole: _Spans
) -> Iterator[tuple[list[UnitVerdict], Span]]:
    """The units of each word, and the span of the word. Units that share a character are in one group."""
    group: list[UnitVerdict] = []
    begin = stop = 0
    for unit in units:
        start, end = whole.widen(unit.start, unit.end)
        if group and start >= stop:
            yield group, (begin, stop)
            group = []
        if not group:
            begin = start
        group.append(unit)
        stop = max(stop, end)
    if group:
        yield group, (begin, stop)


def _deciding(units: Sequence[UnitVerdict]) -> UnitVerdict:
    """The unit that gives a word its verdict and its evidence: an alarm before a match before an absent one,
    and among these the one with the lowest margin.
    """

    def rank(unit: UnitVerdict) -> tuple[int, float]:
        margin = math.inf if unit.margin is None else unit.margin
        return VERDICTS.index(unit.verdict), margin

    return min(units, key=rank)


def _by_position(spans: Iterable[tuple[str, int, int]]) -> dict[int, str]:
    """For each character in a span, what is there.

    Example:
        >>> _by_position([("it", 0, 2)])
        {0: 'it', 1: 'it'}
    """
    return {position: text for text, start, end in spans for position in range(start, end)}
