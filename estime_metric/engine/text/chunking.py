"""Pairs of texts -> chunks of work: units on both sides, which of them are checked, what is encoded
together.

Equal sources are tokenized once, equal pairs scored once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.text.masking import mask_units
from estime_metric.engine.text.units import BoolArray, Tokenizer, Units, occurring, units_of

if TYPE_CHECKING:
    from estime_metric.engine.encoder.loading import EncoderInfo

_TOKENIZED_AT_ONCE = 256  # summaries of one source that are tokenized in one call


@dataclass(eq=False, slots=True)
class EncodedUnits:
    """Units of a text that are masked by one schedule, and their embeddings."""

    units: Units
    embeddings: Tensor | None = (
        None  # of shape (l, n, d); ``None`` until they are encoded, and once they are matched
    )
    key: str = ""  # in the cache of sources, if there is one, with what that has
    cached: Tensor | None = None


@dataclass(frozen=True, eq=False, slots=True)
class SummaryUnits:
    """A summary under way."""

    units: Units
    checked: BoolArray  # which units occur in the source, of shape (n,)
    encoded: tuple[
        EncodedUnits, ...
    ]  # the units checked (unit ``token``), all (``word``), or these and all
    rows: list[int]  # of the result that it fills


_Group = tuple[EncodedUnits, list[SummaryUnits]]


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Sources, each with some of its summaries. A source's embeddings are kept while summaries of
    it are left.
    """

    groups: list[_Group]
    sources: list[
        EncodedUnits
    ]  # those to encode: units of a summary are compared with them, in no earlier chunk
    carried: (
        EncodedUnits | None
    )  # the source that has more summaries in the next chunk, if there is one

    @property
    def rows(self) -> int:
        """How many rows of the result it fills."""
        return sum(len(summary.rows) for _, summaries in self.groups for summary in summaries)

    @property
    def summaries(self) -> list[EncodedUnits]:
        """The summaries' units that have to be encoded."""
        return [
            one for _, summaries in self.groups for summary in summaries for one in summary.encoded
        ]

    def release(self) -> None:
        """Lets go of all embeddings but those that the next chunk needs, which get memory of their
        own.
        """
        for one in [*(source for source, _ in self.groups), *self.summaries]:
            one.embeddings = (
                one.embeddings.clone()
                if one is self.carried and one.embeddings is not None
                else None
            )


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

    A chunk ends with the summary whose units reach ``max_units``. With ``every_unit`` those units
    of a summary that do not occur in the source are encoded too.
    """
    rows: dict[str, dict[str, list[int]]] = {}
    for row, (prediction, source) in enumerate(zip(predictions, sources, strict=True)):
        rows.setdefault(source, {}).setdefault(prediction, []).append(row)
    groups: list[_Group] = []
    size = 0
    before: EncodedUnits | None = None  # the source that an earlier chunk encodes
    for text, summaries in rows.items():
        first = next(iter(summaries.values()))[0]
        encoded = EncodedUnits(_units_of("source", {text: first}, config, tokenizer)[0])
        groups.append((encoded, []))
        size += len(encoded.units)
        for summary in _summaries(encoded.units, summaries, config, tokenizer, every_unit):
            if size >= max_units:
                chunk = _chunk(groups, before, encoded)
                yield chunk
                before = encoded if encoded is before or encoded in chunk.sources else None
                groups, size = [(encoded, [])], 0
            groups[-1][1].append(summary)
            size += sum(len(one.units) for one in summary.encoded)
    if groups:
        yield _chunk(groups, before, None)


def _chunk(
    groups: list[_Group], before: EncodedUnits | None, carried: EncodedUnits | None
) -> Chunk:
    def is_compared(summaries: list[SummaryUnits]) -> bool:
        return any(len(one.units) for summary in summaries for one in summary.encoded)

    sources = [
        source for source, summaries in groups if source is not before and is_compared(summaries)
    ]
    return Chunk(groups, sources, carried)


def _summaries(
    source: Units,
    summaries: dict[str, list[int]],
    config: EstimeConfig,
    tokenizer: Tokenizer,
    every_unit: bool,
) -> Iterator[SummaryUnits]:
    texts = iter(summaries)
    while some := {text: summaries[text][0] for text in islice(texts, _TOKENIZED_AT_ONCE)}:
        for text, units in zip(some, _units_of("summary", some, config, tokenizer), strict=True):
            checked = occurring(units, source)
            if config.unit == "word":
                encoded = [units]
            elif every_unit and not checked.all():
                encoded = [units.only(checked), units]
            else:
                encoded = [units.only(checked)]
            yield SummaryUnits(units, checked, tuple(map(EncodedUnits, encoded)), summaries[text])


def _units_of(
    side: str, texts: Mapping[str, int], config: EstimeConfig, tokenizer: Tokenizer
) -> list[Units]:
    """The units of some texts, each with the row of a pair that has it; an error gets a note that
    tells the row.
    """
    try:
        return units_of(list(texts), config, tokenizer)
    except Exception as error:
        for text, row in texts.items():
            try:
                units_of([text], config, tokenizer)
            except Exception:
                if sys.version_info >= (3, 11):
                    error.add_note(f"This was the {side} of pair {row}, counted from 0.")
                break
        raise


@dataclass(frozen=True, slots=True)
class Work:
    """What some pairs give the encoder to do; ``+`` joins that of several calls. It grows in
    proportion to the texts: a long source takes ``distance * window / (window - 2 * margin)``
    positions a token, 10.3 by default, at most.
    """

    tokens: int = 0  # of the texts, equal ones of a call counted once
    windows: int = 0  # inputs of the encoder
    positions: int = 0  # tokens in all windows, special ones included
    cost: float = 0.0  # what time grows with: products of each position with the weights and its window's positions
    units: int = 0  # embedded at once, at most
    longest: tuple[int, float] = (0, 0.0)  # tokens and cost of the longest source

    def __add__(self, other: Work) -> Work:
        return Work(
            self.tokens + other.tokens,
            self.windows + other.windows,
            self.positions + other.positions,
            self.cost + other.cost,
            max(self.units, other.units),
            max(self.longest, other.longest),
        )


def work_of(chunks: Iterable[Chunk], config: EstimeConfig, info: EncoderInfo) -> Work:
    """The work of some chunks, tokenized, not encoded, none of it cached; ``config`` has nothing
    left open.
    """
    work = Work()
    for chunk in chunks:
        encoded = chunk.sources + chunk.summaries
        texts = [source.units for source in chunk.sources]
        texts += [summary.units for _, summaries in chunk.groups for summary in summaries]
        work += Work(
            tokens=sum(len(units.tokens) for units in texts),
            units=sum(len(one.units) for one in encoded),
        )
        for number, one in enumerate(encoded):
            lengths = [
                len(window) + info.special.around
                for window in mask_units(one.units, config).windows
            ]
            cost = float(sum(length * (6 * info.width + length) for length in lengths))
            longest = (len(one.units.tokens), cost) if number < len(chunk.sources) else (0, 0.0)
            work += Work(windows=len(lengths), positions=sum(lengths), cost=cost, longest=longest)
    return work
