"""Pairs of texts -> chunks of work: units on both sides, which of them are checked, what is encoded together.

Equal sources are tokenized once, equal pairs scored once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.text import BoolArray, Tokenizer, Units, occurring, units_of

#: Summaries of one source that are tokenized in one call.
_TOKENIZED_AT_ONCE = 256


@dataclass(eq=False, slots=True)
class EncodedUnits:
    """Units of a text that are masked by one schedule.

    Attributes:
        units: the units.
        embeddings: of shape (l, n, d); ``None`` until they are encoded.
    """

    units: Units
    embeddings: Tensor | None = None


@dataclass(frozen=True, eq=False, slots=True)
class SummaryUnits:
    """A summary under way.

    Attributes:
        units: its units.
        checked: which of them occur in the source, bool of shape (n,).
        encoded: the sets of units that are encoded: those that are checked (unit ``token``), all (unit ``word``), or
            one after the other.
        rows: the rows of the result that it fills.
    """

    units: Units
    checked: BoolArray
    encoded: tuple[EncodedUnits, ...]
    rows: list[int]


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Sources, each with some of its summaries. A source's embeddings are kept while summaries of it are left."""

    groups: list[tuple[EncodedUnits, list[SummaryUnits]]]

    @property
    def rows(self) -> int:
        """How many rows of the result it fills."""
        return sum(len(summary.rows) for _, summaries in self.groups for summary in summaries)

    @property
    def sources(self) -> list[EncodedUnits]:
        """The sources that have to be encoded: those without embeddings that a summary is compared with."""
        return [
            source
            for source, summaries in self.groups
            if source.embeddings is None and any(len(one.units) for summary in summaries for one in summary.encoded)
        ]

    @property
    def summaries(self) -> list[EncodedUnits]:
        """The summaries' units that have to be encoded."""
        return [one for _, summaries in self.groups for summary in summaries for one in summary.encoded]


def chunks(
    predictions: Sequence[str],
    sources: Sequence[str],
    config: EstimeConfig,
    tokenizer: Tokenizer,
    *,
    max_units: int,
    every_unit: bool,
) -> Iterator[Chunk]:
    """Tokenizes the texts, source by source, and cuts the work into chunks.

    Args:
        predictions: the summaries.
        sources: one source for each.
        config: the configuration.
        tokenizer: the encoder's tokenizer.
        max_units: units that are encoded in one chunk; it ends with the summary that reaches that number.
        every_unit: encode all units of a summary, also those that do not occur in the source.
    """
    groups: dict[str, dict[str, list[int]]] = {}
    for row, (prediction, source) in enumerate(zip(predictions, sources, strict=True)):
        groups.setdefault(source, {}).setdefault(prediction, []).append(row)
    chunk = Chunk([])
    size = 0
    for text, summaries in groups.items():
        encoded = EncodedUnits(units_of([text], config, tokenizer)[0])
        chunk.groups.append((encoded, []))
        size += len(encoded.units)
        for summary in _summaries(encoded.units, summaries, config, tokenizer, every_unit):
            if size >= max_units:
                yield chunk
                chunk, size = Chunk([(encoded, [])]), 0
            chunk.groups[-1][1].append(summary)
            size += sum(len(one.units) for one in summary.encoded)
    if chunk.groups:
        yield chunk


def _summaries(
    source: Units, summaries: dict[str, list[int]], config: EstimeConfig, tokenizer: Tokenizer, every_unit: bool
) -> Iterator[SummaryUnits]:
    """Tokenizes the summaries of one source and finds what is to be checked in each."""
    texts = list(summaries)
    for start in range(0, len(texts), _TOKENIZED_AT_ONCE):
        some = texts[start : start + _TOKENIZED_AT_ONCE]
        for text, units in zip(some, units_of(some, config, tokenizer), strict=True):
            checked = occurring(units, source)
            if config.unit == "word":
                encoded = [units]
            elif every_unit and not checked.all():
                encoded = [units.only(checked), units]
            else:
                encoded = [units.only(checked)]
            yield SummaryUnits(units, checked, tuple(map(EncodedUnits, encoded)), summaries[text])
