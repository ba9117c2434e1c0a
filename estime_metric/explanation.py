"""The per-unit verdicts behind a score, each with its evidence in the source."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from estime_metric.checks import check_choice
from estime_metric.config import EstimeConfig
from estime_metric.engine.matching import SMALLEST_SIMILARITY, MatchedPair, Matches
from estime_metric.engine.splitter import find_splitter, locate_in
from estime_metric.engine.statistics import graded_alarms
from estime_metric.measures import MEASURES, RECOMMENDED, STATISTICS
from estime_metric.show import html, sentences
from estime_metric.wording.source import NEW_NAME, NEW_NUMBER, NewFact, SourceWording
from estime_metric.wording.tables import FUNCTION_WORDS
from estime_metric.wording.text import Shown, shown
from estime_metric.wording.words import lower_words, words_of

#: ``match``: the most similar source unit is the same unit. ``alarm``: it is a different unit (Eq. 1).
#: ``absent``: the unit does not occur in the source (or the tokenizer does not know it), so it is not
#: checked.
VERDICTS = ("match", "alarm", "absent")

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
    """The verdict on one unit of the summary, or on a word made of several.

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
        pieces: units that were merged into it.
    """

    start: int
    end: int
    verdict: str
    best: Evidence | None
    same: Evidence | None
    margin: float | None
    graded_alarm: float = 0.0
    pieces: int = 1

    @property
    def relative_margin(self) -> float | None:
        """The margin divided by the best similarity, so that it is comparable across encoders."""
        if self.margin is None or self.best is None:
            return None
        return self.margin / max(abs(self.best.similarity), SMALLEST_SIMILARITY)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, for JSON: the attributes."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Explanation:
    """The verdicts on all units of one summary, in its order. ``print(explanation)`` shows the counts
    and the alarms.

    Attributes:
        prediction: the summary.
        source: the text that the summary was compared with.
        units: one verdict for each token (or word, by ``unit``) of the summary.
        unit: ``"token"`` or ``"word"``.
        layer: the hidden layer that was read.
        signature: as in an `EstimeResult`.
        statistics: the numbers of the pair at this layer from which every measure is computed, as the
            engine counts them: those of `STATISTICS` that the configuration needs.
    """

    prediction: str
    source: str
    units: tuple[UnitVerdict, ...]
    unit: str
    layer: int
    signature: str
    statistics: Mapping[str, float]

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
    def _source_words(self) -> frozenset[str]:
        return frozenset(lower_words(self.source))

    @cached_property
    def _shown(self) -> Shown:
        return shown(self.prediction)

    def _lower_words(self, unit: UnitVerdict) -> list[str]:
        """The words that a unit of the summary shows, lower-cased."""
        return words_of(self._shown.words(unit.start, unit.end))

    def _content_words(self, unit: UnitVerdict) -> list[str]:
        """The same without `FUNCTION_WORDS`, such as "the"."""
        return [word for word in self._lower_words(unit) if word not in FUNCTION_WORDS]

    @cached_property
    def _wording(self) -> SourceWording:
        return SourceWording(self.source)

    @cached_property
    def _new_facts(self) -> list[NewFact]:
        return self._wording.new_facts(self.prediction)

    @cached_property
    def _written(self) -> list[tuple[int, int]]:
        return self._wording.written_spans(self.prediction)

    def is_written_in_source(self, unit: UnitVerdict) -> bool:
        """Whether a unit of the summary consists of words that the source has too, in any capitals.

        If such a unit is absent, the encoder has no token for it, or, with the unit ``word``, the
        source has it in other capitals only.
        """
        neighbors = (
            self.prediction[max(0, unit.start - 1) : unit.start] + self.prediction[unit.end :][:1]
        )
        words = self._lower_words(unit)
        is_whole = not any(character.isalnum() for character in neighbors)
        return is_whole and bool(words) and self._source_words.issuperset(words)

    @cached_property
    def words(self) -> tuple[UnitVerdict, ...]:
        """The verdicts with the pieces of each word merged and the evidence extended to whole source
        words.

        The words do not overlap: units that share a character, such as the tokens of a fraction
        sign, form one word. A word is an alarm if one of its pieces is an alarm, otherwise a match
        if one of its pieces is a match, otherwise absent. Its evidence comes from the piece that
        has the word's verdict and the lowest margin.
        """
        texts = (self.prediction, self.source) if self.unit == "token" else ("", "")
        summary_words, source_words = map(_Words, texts)
        groups: list[list[UnitVerdict]] = []
        stop = 0
        for unit in self.units:
            start, end = summary_words.widen(unit.start, unit.end)
            if not groups or start >= stop:
                groups.append([])
            groups[-1].append(unit)
            stop = max(stop, end)
        return tuple(_merge(pieces, summary_words, source_words) for pieces in groups)

    def kind(self, word: UnitVerdict) -> str | None:
        """Why a word may be an error: ``"new name"``, ``"new number"`` or ``"new word"`` if the
        source lacks it, otherwise ``"alarm"`` if it raises one, otherwise ``None``.

        Names and numbers are new if the source has them in no written form, see
        `SourceWording.new_facts`. It lacks any other word if it lacks one of its parts ("well" and
        "kept" of "well-kept"), in any capitals; function words, such as "the", are not looked up.
        """
        for fact in self._new_facts:
            if fact.start < word.end and word.start < fact.end:
                return fact.kind
        is_written = any(start < word.end and word.start < end for start, end in self._written)
        words = self._content_words(word)
        if not is_written and not self._source_words.issuperset(words):
            return "new word"
        return "alarm" if word.verdict == "alarm" else None

    def is_content(self, word: UnitVerdict) -> bool:
        """Whether a word is more than punctuation and function words, such as "the"."""
        return bool(self._content_words(word))

    def surest_words(self, *, function_words: bool = False) -> tuple[UnitVerdict, ...]:
        """The words with a `kind`, the likeliest errors first: new names, new numbers, other new
        words, then alarms, the most negative margin first.

        Args:
            function_words: also alarms on function words and on punctuation.
        """
        likely = [
            word
            for word in self.words
            if self.kind(word) is not None and (function_words or self.is_content(word))
        ]
        return tuple(sorted(likely, key=self._rank))

    def _rank(self, word: UnitVerdict) -> tuple[int, float]:
        """Smaller for a likelier error; words of the same rank stay in the order of the summary."""
        kind = self.kind(word)
        if kind == "alarm":
            return KINDS.index(kind), word.margin or 0.0
        return KINDS.index(kind or ""), 0.0

    def to_html(self, *, title: str = html.TITLE) -> str:
        """A self-contained page: the colored summary above its source, with the evidence. For several
        explanations on one page, see `estime_metric.show.to_html`.
        """
        return html.to_html(self, title=title)

    def _repr_html_(self) -> str:
        """What a notebook shows: the colored summary above its source, with the evidence."""
        return html.notebook(self)

    def __repr__(self) -> str:
        return f"Explanation(alarms={self.alarms}, overlap={self.overlap}, tokens={self.tokens}, {self.signature})"

    def __str__(self) -> str:
        return sentences.plain_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON: the texts, the counts, ``inconsistency``,
        ``units`` and ``words``.
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
            "signature": self.signature,
        }


def explain_pair(
    prediction: str,
    source: str,
    pair: MatchedPair,
    statistics: Tensor,
    layer: int,
    config: EstimeConfig,
) -> Explanation:
    """Makes the explanation of one layer from the matches of all units and the ``statistics`` of the
    pair, of shape (len(STATISTICS),), both on the CPU. ``config`` is fully resolved.
    """
    index = config.layer_tuple.index(layer)
    occurring = pair.prediction.occurring
    matches = Matches._make(values[index].clone() for values in pair.every)
    if occurring.any():  # the checked units may have separate embeddings
        for values, checked_values in zip(matches, pair.checked, strict=True):
            values[torch.from_numpy(occurring)] = checked_values[index]
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
    return Explanation(
        prediction=prediction,
        source=source,
        units=tuple(verdicts),
        unit=config.unit,
        layer=layer,
        signature=config.signature(),
        statistics={
            name: value
            for name, value in zip(STATISTICS, statistics.tolist(), strict=True)
            if not math.isnan(value)
        },
    )


def _verdict(
    span: tuple[int, int],
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


class _Words:
    def __init__(self, text: str) -> None:
        _, self.spans = locate_in(text, find_splitter("regex"))
        self._starts = [start for start, _ in self.spans]

    def widen(self, start: int, end: int) -> tuple[int, int]:
        """The span, extended to the beginning and the end of the word in which it begins."""
        word = bisect_right(self._starts, start) - 1
        if word < 0 or start >= self.spans[word][1]:
            return start, end
        return self.spans[word][0], max(end, self.spans[word][1])


def _merge(pieces: list[UnitVerdict], summary_words: _Words, source_words: _Words) -> UnitVerdict:
    verdict = min((piece.verdict for piece in pieces), key=("alarm", "match", "absent").index)
    deciding = [piece for piece in pieces if piece.verdict == verdict]
    shown = min(deciding, key=lambda piece: float("inf") if piece.margin is None else piece.margin)

    def widened(evidence: Evidence | None) -> Evidence | None:
        return evidence and Evidence(
            *source_words.widen(evidence.start, evidence.end), evidence.similarity
        )

    start, _ = summary_words.widen(pieces[0].start, pieces[0].end)
    end = max(summary_words.widen(piece.start, piece.end)[1] for piece in pieces)
    return UnitVerdict(
        start=start,
        end=end,
        verdict=verdict,
        best=widened(shown.best),
        same=widened(shown.same),
        margin=shown.margin,
        graded_alarm=shown.graded_alarm,
        pieces=len(pieces),
    )


def _evidence(similarity: float, at: int, spans: list[tuple[int, int]]) -> Evidence | None:
    return None if similarity == -math.inf else Evidence(*spans[at], similarity)


def _whole_characters(text: str, spans: list[list[int]]) -> list[tuple[int, int]]:
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
