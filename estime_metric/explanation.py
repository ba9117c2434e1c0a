"""The per-unit verdicts behind a score, each with its evidence in the source."""

from __future__ import annotations

import math
import os
import unicodedata
from bisect import bisect_right
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from estime_metric.checks import check_choice
from estime_metric.config import EstimeConfig
from estime_metric.engine.matching import SMALLEST_SIMILARITY, MatchedPair
from estime_metric.engine.words import find_splitter, locate_in
from estime_metric.measures import MEASURES, RECOMMENDED, TEMPERATURE
from estime_metric.novelty import SourceWording, lower_words
from estime_metric.show import html
from estime_metric.show import words as show_words
from estime_metric.show.kinds import KINDS, content_words, new_kind

#: ``match``: the most similar source unit is the same unit. ``alarm``: it is a different unit (Eq. 1).
#: ``absent``: the unit does not occur in the source (or the tokenizer does not know it), so it is not
#: checked.
VERDICTS = ("match", "alarm", "absent")

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
        pieces: units that were merged into it.
    """

    start: int
    end: int
    verdict: str
    best: Evidence | None
    same: Evidence | None
    margin: float | None
    pieces: int = 1

    @property
    def relative_margin(self) -> float | None:
        """The margin divided by the best similarity, so that it is comparable across encoders."""
        if self.margin is None or self.best is None:
            return None
        return self.margin / max(abs(self.best.similarity), SMALLEST_SIMILARITY)

    @property
    def graded_alarm(self) -> float:
        """What the unit adds to ``graded_alarms``: 0 to 1, more than .5 for an alarm. It is 0 for an
        absent unit, and if the source has no other unit to compare with.
        """
        if self.verdict == "absent" or self.relative_margin is None:
            return 0.0
        return (1 - math.tanh(self.relative_margin / TEMPERATURE / 2)) / 2  # no exp: it overflows

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, for JSON: the attributes and ``graded_alarm``."""
        return {**asdict(self), "graded_alarm": self.graded_alarm}


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
        unmatched: the number of alarms if nothing was checked. With the unit ``word``, this is the
            number of words whose best match begins with a different token (usually all of them).
            With ``token``, it is 0.
    """

    prediction: str
    source: str
    units: tuple[UnitVerdict, ...]
    unit: str
    layer: int
    signature: str
    unmatched: int = 0

    @property
    def alarms(self) -> int:
        """The score: how many units raise an alarm, lower is better."""
        return (
            sum(unit.verdict == "alarm" for unit in self.units) if self.overlap else self.unmatched
        )

    @property
    def inconsistency(self) -> float:
        """The recommended measure of the pair, 0 to 1; lower is better."""
        return self.value(RECOMMENDED)

    @property
    def graded_alarms(self) -> float:
        """The sum of the graded alarms of all checked units; lower is better."""
        return math.fsum(unit.graded_alarm for unit in self.units)

    @property
    def overlap(self) -> int:
        """How many units were checked."""
        return sum(unit.verdict != "absent" for unit in self.units)

    @property
    def tokens(self) -> int:
        """How many units the summary has."""
        return len(self.units)

    @cached_property
    def _statistics(self) -> dict[str, torch.Tensor]:
        values = {
            "alarms": self.alarms,
            "graded_alarms": self.graded_alarms,
            "overlap": self.overlap,
            "tokens": self.tokens,
            **SourceWording.of(self.source).novelty(self.prediction),
        }
        return {
            name: torch.tensor(value, dtype=torch.float64, device="cpu")
            for name, value in values.items()
        }

    def value(self, measure: str) -> float:
        """A measure of the pair, the same as in `EstimeResult.values` except for the rounding of graded
        alarms. Raises ValueError if the measure does not follow from the verdicts, such as
        ``winners``.
        """
        computable = [
            name for name, entry in MEASURES.items() if self._statistics.keys() >= {*entry.needs}
        ]
        check_choice("measure", measure, computable)
        return float(MEASURES[measure](self._statistics))

    @cached_property
    def _source_words(self) -> frozenset[str]:
        return frozenset(lower_words(self.source))

    def is_written_in_source(self, unit: UnitVerdict) -> bool:
        """Whether a unit of the summary consists of words that the source has too, in any capitals.

        If such a unit is absent, the encoder has no token for it, or, with the unit ``word``, the
        source has it in other capitals only.
        """
        neighbors = (
            self.prediction[max(0, unit.start - 1) : unit.start] + self.prediction[unit.end :][:1]
        )
        words = lower_words(self.prediction[unit.start : unit.end])
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

        The source lacks a word if it lacks one of its parts ("well" and "kept" of "well-kept"), in
        any capitals; function words, such as "the", are not looked up. A new number has a digit, and
        a new name a capital letter, except at the beginning of a sentence.
        """
        kind = new_kind(self.prediction, word.start, word.end, self._source_words)
        return kind or ("alarm" if word.verdict == "alarm" else None)

    def surest_words(self, *, function_words: bool = False) -> tuple[UnitVerdict, ...]:
        """The words with a `kind`, the likeliest errors first: new names, new numbers, other new
        words, then alarms, the most negative margin first.

        Args:
            function_words: also alarms on function words and on punctuation.
        """
        likely = [
            word
            for word in self.words
            if self.kind(word) is not None
            and (function_words or content_words(self.prediction[word.start : word.end]))
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of `to_html` to a file; its name has to end in ``.html`` (ValueError)."""
        if Path(path).suffix.lower() != ".html":
            raise ValueError(f"Expected argument `path` to end in .html, but got {str(path)!r}.")
        Path(path).write_text(self.to_html(), encoding="utf-8", newline="")

    def _repr_html_(self) -> str:
        """What a notebook shows: the colored summary above its source, with the evidence."""
        return html.notebook(self)

    def __repr__(self) -> str:
        return f"Explanation(alarms={self.alarms}, overlap={self.overlap}, tokens={self.tokens}, {self.signature})"

    def __str__(self) -> str:
        return show_words.plain_text(self)

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
    statistics: torch.Tensor,
    layer: int,
    config: EstimeConfig,
) -> Explanation:
    """Makes the explanation of one layer from the matches of all units, on the CPU, and the pair's
    ``statistics`` at that layer, float64 of shape (len(STATISTICS),). ``config`` is fully resolved.
    """
    index = config.layer_tuple.index(layer)
    occurring = pair.prediction.occurring
    matches = {name: getattr(pair.every, name)[index].numpy().copy() for name in _SHOWN}
    if occurring.any():  # the checked units may have separate embeddings
        for name, values in matches.items():
            values[occurring] = getattr(pair.checked, name)[index].numpy()
    summary_spans = _whole_characters(prediction, pair.prediction.units.spans.tolist())
    source_spans = _whole_characters(source, pair.source.spans.tolist())
    verdicts, unmatched = [], 0
    for row, (start, end) in enumerate(summary_spans):
        same = _evidence(matches["same"][row], matches["same_at"][row], source_spans)
        other = _evidence(matches["other"][row], matches["other_at"][row], source_spans)
        alarm = other is not None and (same is None or other.similarity > same.similarity)
        unmatched += alarm or same is None
        checked = bool(occurring[row])
        verdicts.append(
            UnitVerdict(
                start=start,
                end=end,
                verdict="absent" if not checked else "alarm" if alarm else "match",
                best=other if alarm else same,
                same=same if checked else None,
                margin=_difference(same, other) if checked else None,
            )
        )
    return Explanation(
        prediction=prediction,
        source=source,
        units=tuple(verdicts),
        unit=config.unit,
        layer=layer,
        signature=config.signature(),
        unmatched=unmatched if config.unit == "word" else 0,
    )


#: What is shown of the matches of a unit.
_SHOWN = ("same", "same_at", "other", "other_at")


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
        pieces=len(pieces),
    )


def _evidence(
    similarity: np.float32, at: np.int64, spans: list[tuple[int, int]]
) -> Evidence | None:
    return None if np.isneginf(similarity) else Evidence(*spans[int(at)], float(similarity))


def _difference(same: Evidence | None, other: Evidence | None) -> float | None:
    return None if same is None or other is None else same.similarity - other.similarity


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
