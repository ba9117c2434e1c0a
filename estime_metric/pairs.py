"""Pairs of texts -> chunks of work: units on both sides, what is checked, what is encoded together.

Equal sources are taken apart once, equal pairs once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.text import (
    BoolArray,
    Tokenizer,
    Units,
    leave_out_tags,
    occurring,
    split_into_words,
    tokenize,
)
from estime_metric.engine.words import find_splitter, find_tagger

#: Summaries of one source that are taken apart in one call.
_TAKEN_APART_AT_ONCE = 256


@dataclass(eq=False, slots=True)
class SourceText:
    """A source under way. Its embeddings, of shape (l, t, d), are kept while summaries of it are left."""

    units: Units
    embeddings: Tensor | None = None


@dataclass(eq=False, slots=True)
class SummaryText:
    """A summary under way.

    Attributes:
        units: its units.
        checked: which of them occur in the source, bool of shape (n,).
        encodings: the sets of units that are encoded, each with a masking schedule of its own: those that are checked
            (unit ``token``), all (unit ``word``), or one after the other.
        rows: the rows of the result that it fills.
    """

    units: Units
    checked: BoolArray
    encodings: list[Units]
    rows: list[int]


#: Sources, each with some of its summaries.
Chunk = list[tuple[SourceText, list[SummaryText]]]


def chunks(
    predictions: Sequence[str], sources: Sequence[str], config: EstimeConfig, tokenizer: Tokenizer, room: int
) -> Iterator[Chunk]:
    """Takes the texts apart, source by source, and cuts the work into chunks.

    Args:
        predictions: the summaries.
        sources: one source for each.
        config: the configuration.
        tokenizer: the encoder's tokenizer.
        room: units that are encoded in one chunk; it ends with the summary that reaches that number.
    """
    groups: dict[str, dict[str, list[int]]] = {}
    for row, (prediction, source) in enumerate(zip(predictions, sources, strict=True)):
        groups.setdefault(source, {}).setdefault(prediction, []).append(row)
    chunk: Chunk = []
    taken = 0
    for text, summaries in groups.items():
        source_text = SourceText(units_of([text], config, tokenizer)[0])
        chunk.append((source_text, []))
        taken += len(source_text.units)
        for summary in _summaries(source_text, summaries, config, tokenizer):
            if taken >= room:
                yield chunk
                chunk, taken = [(source_text, [])], 0
            chunk[-1][1].append(summary)
            taken += sum(map(len, summary.encodings))
    if chunk:
        yield chunk


def units_of(texts: Sequence[str], config: EstimeConfig, tokenizer: Tokenizer) -> list[Units]:
    """The units of each text, parts of speech that are left out excepted."""
    if config.unit == "word":
        found = split_into_words(texts, tokenizer, find_splitter(config.splitter))
    else:
        found = tokenize(texts, tokenizer)
    if config.tagger is None:
        return found
    splitter, tagger = find_splitter(config.splitter), find_tagger(config.tagger)
    return [
        leave_out_tags(text, units, splitter, tagger, config.keep_tags, config.drop_tags)
        for text, units in zip(texts, found, strict=True)
    ]


def _summaries(
    source: SourceText, summaries: dict[str, list[int]], config: EstimeConfig, tokenizer: Tokenizer
) -> Iterator[SummaryText]:
    """Takes the summaries of one source apart and finds what is to be checked in each."""
    texts = list(summaries)
    for start in range(0, len(texts), _TAKEN_APART_AT_ONCE):
        some = texts[start : start + _TAKEN_APART_AT_ONCE]
        for text, units in zip(some, units_of(some, config, tokenizer), strict=True):
            checked = occurring(units, source.units)
            if config.unit == "word":
                encodings = [units]
            elif config.needs_every_unit and not checked.all():
                encodings = [units.only(checked), units]
            else:
                encodings = [units.only(checked)]
            yield SummaryText(units, checked, encodings, summaries[text])
