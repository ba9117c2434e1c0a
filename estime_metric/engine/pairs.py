"""Pairs -> batches of pairs: which units are checked, and what is embedded.

Equal sources are tokenized once, equal pairs scored once. Axis: ``n`` units of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from estime_metric.config import EstimeConfig
from estime_metric.engine.units import BoolArray, Tokenizer, Units, occurring, units_of

_TOKENIZED_TOGETHER = 256  # summaries of one source that are tokenized in one call


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
    def predictions(self) -> list[PredictionUnits]:
        """The summaries of all groups."""
        return [prediction for group in self.groups for prediction in group.predictions]

    @property
    def rows(self) -> int:
        """How many rows of the result the batch fills."""
        return sum(len(prediction.rows) for prediction in self.predictions)

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
) -> Iterator[PairBatch]:
    """Tokenizes the texts, source by source, and cuts the pairs into batches.

    A batch ends with the summary whose units reach ``max_units``. With ``every_unit`` also those
    units of a summary are embedded that do not occur in the source.
    """
    groups: list[SourceGroup] = []
    size = 0
    embedded_before: Units | None = None  # the source that an earlier batch embeds
    for text, rows_of_predictions in _rows_by_source(predictions, sources).items():
        first_row = next(iter(rows_of_predictions.values()))[0]
        source = _units_with_rows("source", {text: first_row}, config, tokenizer)[0]
        groups.append(SourceGroup(source, []))
        size += len(source)
        for prediction in _predictions(source, rows_of_predictions, config, tokenizer, every_unit):
            if size >= max_units:
                batch = _batch(groups, embedded_before, carried=source)
                yield batch
                stays = source is embedded_before or source in batch.sources
                embedded_before = source if stays else None
                groups, size = [SourceGroup(source, [])], 0
            groups[-1].predictions.append(prediction)
            size += sum(len(units) for units in prediction.embedded)
    if groups:
        yield _batch(groups, embedded_before, carried=None)


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


def _predictions(
    source: Units,
    rows_of_predictions: Mapping[str, list[int]],
    config: EstimeConfig,
    tokenizer: Tokenizer,
    every_unit: bool,
) -> Iterator[PredictionUnits]:
    texts = iter(rows_of_predictions)
    while first_rows := {
        text: rows_of_predictions[text][0] for text in islice(texts, _TOKENIZED_TOGETHER)
    }:
        units_of_texts = _units_with_rows("summary", first_rows, config, tokenizer)
        for text, units in zip(first_rows, units_of_texts, strict=True):
            occurs = occurring(units, source)
            checked = units if config.unit == "word" else units.only(occurs)
            every = units if every_unit and not occurs.all() else checked
            yield PredictionUnits(
                units=units,
                occurring=occurs,
                checked=checked,
                every=every,
                rows=rows_of_predictions[text],
            )


def _units_with_rows(
    side: str, row_of_text: Mapping[str, int], config: EstimeConfig, tokenizer: Tokenizer
) -> list[Units]:
    """The units of some texts; an error gets a note that names the row of the text that caused it."""
    try:
        return units_of(list(row_of_text), config, tokenizer)
    except Exception as error:
        for text, row in row_of_text.items():
            try:
                units_of([text], config, tokenizer)
            except Exception:
                error.add_note(f"This was the {side} of pair {row}, counted from 0.")
                break
        raise
