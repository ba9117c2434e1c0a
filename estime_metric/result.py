"""What a scoring run returns: the statistics of every pair, and everything that is computed from them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from estime_metric._messages import counted
from estime_metric.checks import check_choice, did_you_mean, integer
from estime_metric.config import EstimeConfig
from estime_metric.measures import (
    FURTHER_MEASURES,
    HIGHER_IS_BETTER,
    MEASURES,
    RECOMMENDED,
    REPORTED,
    STATISTICS,
    TIES,
    check_threshold,
    compute,
    reported_name,
)
from estime_metric.signature import Signature
from estime_metric.table.formats import WRITABLE
from estime_metric.table.intervals import Interval, intervals, source_id
from estime_metric.table.output import check_writable
from estime_metric.table.scores import Scores
from estime_metric.table.summary import Summary
from estime_metric.table.table import LINE, SIGNATURE, SOURCE_ID

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.explanation import Explanation

_LISTED = 10  # indices that `str` names


class EstimeResult:
    """Scores for a list of pairs, in input order. ``print(result)`` shows the means and the signature.

    ``result.alarms`` or ``result["alarms"]`` gives a measure for every pair, ``result["alarms", 12]``
    the values at one of several layers.

    Iterating over it gives a record for each pair: a dict of plain numbers.

    Args:
        statistics: float64 of shape (pairs, layers, statistics), in the order of ``STATISTICS``.
        config: the fully resolved configuration.
        sources: the source of each pair, by which `interval` resamples; if they are omitted, each
            pair counts as a separate source.
        predictions: the summaries, which `explain` needs and pages show; can be omitted.
        input_warnings: what there is to warn of in the texts -> the number of pairs that it is about.
        explain: (configuration, summary, source, layer) -> explanation, which `explain` calls.

    Example:
        >>> from estime_metric import estime
        >>> result = estime(["The cat slept."], ["The cat slept while it rained."])
        >>> result["alarms"].tolist(), next(iter(result))["alarms"]
        ([1.0], 1.0)
    """

    inconsistency: Tensor
    graded_alarms: Tensor
    new_words: Tensor
    new_bigrams: Tensor
    new_trigrams: Tensor
    repetition: Tensor
    copied_density: Tensor
    new_names: Tensor
    new_numbers: Tensor
    alarms: Tensor
    alarm_rate: Tensor
    alarms_adjusted: Tensor
    winners: Tensor
    unsupported: Tensor
    unsupported_rate: Tensor
    overlap: Tensor
    tokens: Tensor
    coverage: Tensor
    blank: Tensor
    alarms_alltokens: Tensor
    soft: Tensor
    coherence: Tensor

    def __init__(
        self,
        statistics: Tensor,
        config: EstimeConfig,
        sources: Sequence[str] | None = None,
        predictions: Sequence[str] | None = None,
        *,
        input_warnings: Mapping[str, int] | None = None,
        explain: Callable[[EstimeConfig, str, str, int | None], Explanation] | None = None,
    ) -> None:
        self._statistics = statistics
        self._sources = sources
        self._predictions = predictions
        self._warned: set[str] = set()
        self._explain = explain
        self.input_warnings = dict(input_warnings or {})
        self.config = config

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that were read, in the requested order."""
        return self.config.layer_tuple

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of every row, see `EstimeConfig.reported_measures`."""
        return self.config.reported_measures

    @property
    def _accepted(self) -> list[str]:
        """The measures that `values` accepts."""
        return [
            name
            for name in MEASURES
            if name not in FURTHER_MEASURES or name in self.config.measures
        ]

    @property
    def signature(self) -> Signature:
        """One line that identifies how the scores were computed; see `EstimeConfig.signature`. Its
        ``short`` form is for the caption of a table.
        """
        return self.config.signature()

    @property
    def sources(self) -> Sequence[str] | None:
        """The source of each pair, in input order; ``None`` if the result does not have them."""
        return self._sources

    @property
    def unchecked_indices(self) -> list[int]:
        """Indices of pairs in which no summary unit occurs in the source, so that none was checked.

        With the unit ``token``, they have 0 alarms. With the unit ``word``, all their words count
        as alarms, except words whose first token also begins a source word. Their ``alarm_rate`` is
        NaN, their ``inconsistency`` 1.
        """
        return self._where_none("overlap")

    @property
    def blank_indices(self) -> list[int]:
        """Indices of pairs in which the summary has no units, usually an empty text; they are also
        `unchecked_indices`.

        Their counts are 0, their ``inconsistency`` is 1, and their ``alarm_rate`` is NaN.
        """
        return self._where_none("tokens")

    def __len__(self) -> int:
        return len(self._statistics)

    def __iter__(self) -> Iterator[dict[str, float]]:
        """A record for each pair, in input order: measure -> value. If several layers are read, the
        names end in the layer (see `reported_name`).
        """
        columns = self.columns()
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))

    def __getitem__(self, key: str | tuple[str, int]) -> Tensor:
        """`values` of a measure, or of a measure and a layer."""
        measure, layer = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        if not isinstance(measure, str):
            raise TypeError(
                f"Expected the name of a measure, or a name and a layer, but got {key!r}."
            )
        return self.values(measure, layer)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Tensor:
            """`values` of a measure, if a single layer was read."""
            if name not in MEASURES:
                message = f"EstimeResult has no attribute {name!r}."
                if not name.startswith("_"):  # otherwise no user asks, but `pickle`
                    message += f" Measures: {', '.join(self._accepted)}."
                    message += did_you_mean(name, self._accepted)
                raise AttributeError(message)
            if len(self.layers) > 1:
                raise AttributeError(
                    f"Several layers were read: use `values({name!r}, layer)` with one of "
                    f"{', '.join(map(str, self.layers))}."
                )
            try:
                return self.values(name)
            except ValueError as error:
                raise AttributeError(str(error)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._accepted]

    def __repr__(self) -> str:
        return f"EstimeResult({counted(len(self), 'pair')}, {self.signature})"

    def __str__(self) -> str:
        import pandas  # slow

        from estime_metric.show.cells import means_table  # imports rich: slow

        summary = self._summary()
        measures = tuple(dict.fromkeys((*REPORTED, *self.config.measures)))
        means = pandas.DataFrame(means_table(summary.means, measures, self.layers))
        lines = [counted(len(self), "pair"), means.to_string(index=False)]
        foreign = sorted(set(self.unchecked_indices) - set(self.blank_indices))
        for meaning, indices in (
            (f"Blank summaries, {RECOMMENDED} {MEASURES[RECOMMENDED].blank:g}", self.blank_indices),
            ("Summaries without a token of their source, so nothing was checked", foreign),
        ):
            if indices:
                more = ", ..." if len(indices) > _LISTED else ""
                listed = ", ".join(map(str, indices[:_LISTED]))
                lines.append(f"{meaning}: {len(indices)} (index {listed}{more})")
        if summary.few_sources == 1:
            lines.append("There is only one source, so there are no intervals.")
        return "\n".join([*lines, self.signature])

    def values(self, measure: str, layer: int | None = None) -> Tensor:
        """One measure for every pair.

        Args:
            measure: any of ``estime_metric.measures.MEASURES``; those of ``FURTHER_MEASURES`` only if
                they were requested.
            layer: one of ``layers``; can be omitted if there is only one.

        Returns:
            float64 of shape (pairs,), in input order, on the CPU; yours to change. See `unchecked_indices`
            and `blank_indices`.

        Raises:
            ValueError: the measure is unknown or was not requested, the layer was not read, or no
                layer is given although several were read.
        """
        if measure in MEASURES and measure not in self._accepted:
            raise ValueError(
                f"Expected argument `measures` to include {measure!r} when the pairs were scored, but it did not."
            )
        with torch.inference_mode(False):  # otherwise they could not be changed in place
            return compute(measure, self._statistics[:, self._layer_index(layer)]).clone()

    def mean(self, measure: str, layer: int | None = None) -> float:
        """The mean of a measure over the pairs for which it is defined, or NaN if there are none.
        Takes the same arguments as `values`. If pairs are excluded from the mean, a warning reports how
        many, once per measure.
        """
        values = self.values(measure, layer)
        undefined = int(values.isnan().sum())
        if undefined and measure not in self._warned:
            self._warned.add(measure)
            warnings.warn(MEASURES[measure].warning(undefined, len(values)), stacklevel=2)
        return float(values.nanmean())

    def flags(
        self,
        threshold: float,
        measure: str = RECOMMENDED,
        layer: int | None = None,
    ) -> Tensor:
        """Flags the summaries that should be reviewed: those with a value that is undefined, or
        equal to or worse than the threshold. Values are rounded to six decimals, as in files.

        No threshold suits all texts; ``estime calibrate`` chooses one from about fifty summaries
        that you have labeled.

        Args:
            threshold: a possible value of the measure.
            measure: a measure with a direction (lower or higher is better).
            layer: as for `values`.

        Returns:
            bool of shape (pairs,), in input order.

        Raises:
            TypeError, ValueError: ``threshold`` is not a number, or not a possible value of the
                measure; the measure has no direction; or as for `values`.
        """
        check_choice("measure", measure, HIGHER_IS_BETTER)
        limit = check_threshold(threshold, measure)
        # As files have them, so that a threshold chosen on a file flags the same summaries.
        values = torch.tensor(
            [round(value, 6) for value in self.values(measure, layer).tolist()],
            dtype=torch.float64,
            device="cpu",
        )
        acceptable = values > limit if HIGHER_IS_BETTER[measure] else values < limit
        return acceptable.logical_not()

    def ties(self, layer: int | None = None, measure: str = "alarms") -> int:
        """The number of comparisons between nearly equal dot products, which rounding can decide.

        A different batch size, order or device changes ``alarms`` and ``winners`` by at most this
        number. For ``soft``, ``coherence`` and ``alarms_alltokens``, it is the number of summary
        units with a best match that may change; it is 0 for a measure that does not depend on dot
        products, such as ``overlap``. Two dot products count as nearly equal if they differ by less
        than a tolerance, relative to the product of the vector lengths: 1e-4 in float32, 2**-9 in
        float16, and 2**-6 in bfloat16.
        """
        self.values(measure, layer)  # raises an error if it was not requested
        tie_counts = {TIES[name] for name in MEASURES[measure].needs if name in TIES}
        return sum(
            int(self._statistics[:, self._layer_index(layer), STATISTICS.index(name)].sum())
            for name in tie_counts
        )

    def interval(self, measure: str, layer: int | None = None) -> Interval:
        """The mean of a measure with its 95% bootstrap interval over sources (see `intervals`);
        pairs for which the measure is undefined are excluded. Arguments as for `values`.
        """
        return intervals(self._source_ids(), {measure: self.values(measure, layer).tolist()})[
            measure
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything about the whole run as plain numbers and strings, for JSON.

        Returns:
            the counts of `Summary` and its means as ``measures``: name -> ``mean``, ``low`` and
            ``high`` of the 95% interval, and ``count``, with ``None`` for a value that is undefined;
            ``signature`` and ``short_signature``.
        """
        return {
            **self._summary().to_dict(),
            "signature": str(self.signature),
            "short_signature": self.signature.short,
        }

    def columns(self, measures: Sequence[str] | None = None) -> dict[str, list[float]]:
        """Reported name (see `reported_name`) -> the values of all pairs, as plain numbers, of some
        measures (default: `measures`).
        """
        return {
            reported_name(measure, layer, self.layers): self.values(measure, layer).tolist()
            for layer in self.layers
            for measure in (self.measures if measures is None else measures)
        }

    def table(self, measures: Sequence[str] | None = None, *, texts: bool = False) -> DataFrame:
        """The table of scores: one row per pair, as ``estime score -o`` writes it and
        `estime_metric.compare.read_scores` reads it.

        Args:
            measures: the measures (default: `measures`).
            texts: also give the columns ``source`` and ``summary``, if the result has the texts.

        Returns:
            ``line``, from 1; the texts; a column per measure (``alarms``, or ``alarms_layer12`` of
            several layers), rounded to six decimals, NaN if it is undefined; ``source_id`` if the
            result has its sources; ``signature``. The record, ``table.attrs["record"]``, has the
            signature.

        Raises:
            ValueError: a measure is unknown or was not requested.
        """
        import pandas  # slow

        columns: dict[str, Any] = {LINE: range(1, len(self) + 1)}
        if texts and self._sources is not None and self._predictions is not None:
            columns |= {"source": list(self._sources), "summary": list(self._predictions)}
        for name, values in self.columns(measures).items():
            columns[name] = [round(value, 6) for value in values]
        if self._sources is not None:
            columns[SOURCE_ID] = [source_id(source) for source in self._sources]
        table = pandas.DataFrame(columns).assign(**{SIGNATURE: str(self.signature)})
        return Scores(table, {SIGNATURE: str(self.signature)}).to_frame()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `table`: JSON Lines, CSV or Parquet, by the ending of ``path``. ``estime compare``
        reads it.

        Raises:
            ValueError: another ending.
            ImportError: Parquet without pyarrow.
        """
        output = Path(path)
        check_writable(output, endings=WRITABLE)
        Scores.of(self.table()).write(output)

    def worst(
        self, number: int = 5, measure: str = RECOMMENDED, layer: int | None = None
    ) -> list[int]:
        """Indices of the summaries with the worst values of a measure, the worst first, those with
        an undefined value before them.

        Args:
            number: how many indices at most, 0 or more.
            measure: a measure with a direction (lower or higher is better).
            layer: as for `values`.

        Raises:
            TypeError, ValueError: ``number`` is not such an integer, the measure has no direction,
                or as for `values`.

        Example:
            >>> from estime_metric import estime
            >>> source = "The cat slept while it rained."
            >>> result = estime(["The cat slept.", "A dog barked."], [source, source])
            >>> result.worst(1)
            [1]
        """
        check_choice("measure", measure, HIGHER_IS_BETTER)
        values = self.values(measure, layer)
        badness = -values if HIGHER_IS_BETTER[measure] else values
        order = badness.nan_to_num(float("inf")).argsort(descending=True, stable=True)
        return order[: integer("number", number, least=0)].tolist()

    def explain(self, index: int, *, layer: int | None = None) -> Explanation:
        """The verdicts on the words of one summary, as `EstimeScorer.explain` with the same options
        gives them. Loads the encoder if it is not in memory.

        Args:
            index: the index of the pair.
            layer: as for `values`.

        Raises:
            ValueError: the result has no texts, as after `EstimeResult` was made from statistics alone;
                or as for `EstimeScorer.explain`.
            TypeError: the index is not an integer.
            IndexError: there is no such pair.
            EncoderUnavailableError: the encoder cannot be loaded.
        """
        if self._explain is None or self._predictions is None or self._sources is None:
            raise ValueError("Expected a result with its texts to explain, but this one has none.")
        index = integer("index", index)
        if not -len(self) <= index < len(self):
            raise IndexError(
                f"Expected argument `index` to be that of one of {counted(len(self), 'pair')}, but got {index}."
            )
        return self._explain(self.config, self._predictions[index], self._sources[index], layer)

    def _summary(self) -> Summary:
        return Summary.of(self._source_ids(), self.columns())

    def _source_ids(self) -> list[str]:
        sources = self._sources or [str(row) for row in range(len(self))]
        return [source_id(source) for source in sources]

    def _layer_index(self, layer: int | None) -> int:
        if layer is None:
            if len(self.layers) > 1:
                listed = ", ".join(map(str, self.layers))
                wanted = f"be one of {listed}, since several were read"
                raise ValueError(f"Expected argument `layer` to {wanted}, but got None.")
            return 0
        check_choice("layer", layer, self.layers)
        return self.layers.index(layer)

    def _where_none(self, statistic: str) -> list[int]:
        return (
            torch.nonzero(self._statistics[:, 0, STATISTICS.index(statistic)] == 0)
            .flatten()
            .tolist()
        )
