"""Pairs -> batches of pairs: which units are checked, and what is embedded.

Equal sources are tokenized once, equal pairs scored once. Axis: ``n`` units of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import SourceCache, source_key
from estime_metric.engine.units import BoolArray, Tokenizer, Units, occurring, units_of

_TOKENIZED_TOGETHER = 500_000  # characters of texts that are tokenized in one call, about


@dataclass(frozen=True, eq=False, slots=True)
class PredictionUnits:
    """A summary: its units, and which of them are embedded.

    Attributes:
        units: all of them.
        occurring: which units occur in the source, so that they are checked (Eq. 1); bool of shape
            (n,).
        checked: the units that are embedded for the alarms: those that occur in the source, with a
            masking schedule for these units only; all units if the units are words.
        every: the units that are embedded for the measures over all units; ``checked`` itself if no
            such measure is requested or if all units occur.
        rows: the rows of the result that it fills.
    """

    units: Units
    occurring: BoolArray
    checked: Units
    every: Units
    rows: list[int]

    @property
    def embedded(self) -> list[Units]:
        """The sets of units that are embedded: ``checked``, and ``every`` if it is another one."""
        return [self.checked] if self.every is self.checked else [self.checked, self.every]


@dataclass(frozen=True, eq=False, slots=True)
class SourceGroup:
    """A source and some of its summaries."""

    source: Units
    predictions: list[PredictionUnits]

    @property
    def embedded(self) -> Iterator[Units]:
        """The sets of units of the summaries that are embedded."""
        return chain.from_iterable(prediction.embedded for prediction in self.predictions)

    @property
    def embedded_units(self) -> int:
        """How many units of the summaries are compared with the source, which is embedded if there are
        any.
        """
        return sum(map(len, self.embedded))


@dataclass(frozen=True, eq=False, slots=True)
class PairBatch:
    """Pairs that are embedded and matched together.

    Attributes:
        groups: the pairs, by source.
        sources: the sources to embed: those that are compared here and were in no earlier batch.
        carried: the source with more summaries in the next batch, whose embeddings are kept;
            ``None`` if there is none.
    """

    groups: list[SourceGroup]
    sources: list[Units]
    carried: Units | None

    @property
    def rows(self) -> int:
        """How many rows of the result the batch fills."""
        return sum(
            len(prediction.rows) for group in self.groups for prediction in group.predictions
        )

    @property
    def to_embed(self) -> list[Units]:
        """All sets of units to embed, the sources first."""
        return [*self.sources, *chain.from_iterable(group.embedded for group in self.groups)]


def pair_batches(
    predictions: Sequence[str],
    sources: Sequence[str],
    config: EstimeConfig,
    tokenizer: Tokenizer,
    *,
    max_units: int,
    every_unit: bool,
    cache: SourceCache | None = None,
) -> Iterator[PairBatch]:
    """Tokenizes the texts and cuts the pairs into batches; ``cache`` has the units of sources.

    A batch ends with the summary whose units reach ``max_units``. With ``every_unit`` also those
    units of a summary are embedded that do not occur in the source.
    """
    groups: list[SourceGroup] = []
    size = 0
    embedded_before: Units | None = None  # the source that an earlier batch embeds
    source: Units | None = None
    for text, units in _with_units(_texts(predictions, sources), config, tokenizer, cache):
        if text.is_source:
            source = units
            groups.append(SourceGroup(source, []))
            size += len(source)
            continue
        assert source is not None, "a source comes before its summaries"
        if size >= max_units:
            batch = _batch(groups, embedded_before, carried=source)
            yield batch
            stays = source is embedded_before or source in batch.sources
            embedded_before = source if stays else None
            groups, size = [SourceGroup(source, [])], 0
        prediction = _prediction(units, source, text.rows, config, every_unit)
        groups[-1].predictions.append(prediction)
        size += sum(len(units) for units in prediction.embedded)
    if groups:
        yield _batch(groups, embedded_before, carried=None)


class _Text(NamedTuple):
    """A source, or a summary of the source before it, and the rows of the result that have it."""

    is_source: bool
    text: str
    rows: list[int]


def _texts(predictions: Sequence[str], sources: Sequence[str]) -> Iterator[_Text]:
    """Each different source, followed by its different summaries."""
    for source, rows_of_predictions in _rows_by_source(predictions, sources).items():
        yield _Text(True, source, next(iter(rows_of_predictions.values())))
        for prediction, rows in rows_of_predictions.items():
            yield _Text(False, prediction, rows)


def _rows_by_source(
    predictions: Sequence[str], sources: Sequence[str]
) -> dict[str, dict[str, list[int]]]:
    """Source -> summary -> the rows of that pair."""
    rows: dict[str, dict[str, list[int]]] = {}
    for row, (prediction, source) in enumerate(zip(predictions, sources, strict=True)):
        rows.setdefault(source, {}).setdefault(prediction, []).append(row)
    return rows


def _batch(
    groups: list[SourceGroup], embedded_before: Units | None, carried: Units | None
) -> PairBatch:
    new = [
        group.source
        for group in groups
        if group.source is not embedded_before and group.embedded_units
    ]
    return PairBatch(groups=groups, sources=new, carried=carried)


def _prediction(
    units: Units, source: Units, rows: list[int], config: EstimeConfig, every_unit: bool
) -> PredictionUnits:
    occurs = occurring(units, source)
    checked = units if config.unit == "word" else units.only(occurs)
    every = units if every_unit and not occurs.all() else checked
    return PredictionUnits(units=units, occurring=occurs, checked=checked, every=every, rows=rows)


def _with_units(
    texts: Iterator[_Text], config: EstimeConfig, tokenizer: Tokenizer, cache: SourceCache | None
) -> Iterator[tuple[_Text, Units]]:
    """The texts with their units; those of a source from the cache, if it has them."""
    if callable(config.splitter) or callable(config.tagger):
        cache = None  # a function of the user's may change
    signature = config.signature()
    while together := _next_together(texts):
        keys = [
            source_key(signature, text=text.text) if cache is not None and text.is_source else None
            for text in together
        ]
        known = [None if cache is None or key is None else cache.get_units(key) for key in keys]
        missing = [text for text, units in zip(together, known, strict=True) if units is None]
        tokenized = iter(_units_with_rows(missing, config, tokenizer))
        for text, key, units in zip(together, keys, known, strict=True):
            if units is None:
                units = replace(next(tokenized), key=key)
                if cache is not None and key is not None:
                    cache.put_units(key, units)
            yield text, units


def _next_together(texts: Iterator[_Text]) -> list[_Text]:
    """The next texts that are tokenized in one call; none at the end."""
    together: list[_Text] = []
    characters = 0
    while characters < _TOKENIZED_TOGETHER and (text := next(texts, None)) is not None:
        together.append(text)
        characters += len(text.text)
    return together


def _units_with_rows(
    texts: Sequence[_Text], config: EstimeConfig, tokenizer: Tokenizer
) -> list[Units]:
    """The units of some texts; an error gets a note that names the row of the text that caused it."""
    try:
        return units_of([text.text for text in texts], config, tokenizer)
    except Exception as error:
        for text in texts:
            try:
                units_of([text.text], config, tokenizer)
            except Exception:
                side = "source" if text.is_source else "summary"
                error.add_note(f"This was the {side} of pair {text.rows[0]}, counted from 0.")
                break
        raise
