"""What a scoring run returns: the statistics of every pair, and all that is computed from them."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from estime_metric import files
from estime_metric.bootstrap import BootstrapMeans
from estime_metric.config import EstimeConfig
from estime_metric.inputs import check_choice
from estime_metric.intervals import CONFIDENCE, Interval
from estime_metric.measures import (
    BASE_MEASURES,
    FURTHER_MEASURES,
    HIGHER_IS_BETTER,
    MEASURES,
    PAPER_MEASURE,
    RECOMMENDED,
    STATISTICS,
    TIES,
    compute,
    reported_name,
)
from estime_metric.operating_points import threshold_value
from estime_metric.signature import Signature

if TYPE_CHECKING:
    from pandas import DataFrame

_LISTED = 10  # indices that `str` names


class EstimeResult:
    """Scores of a list of pairs, in input order; ``print(result)`` tells score, coverage and
    signature.

    ``result["alarms"]`` gives a measure for every pair, ``result["alarms", 12]`` at one of several
    layers.

    Iterating over it gives a record for each pair: a dict of plain numbers.

    Args:
        statistics: float64 of shape (pairs, layers, statistics), in the order of ``STATISTICS``.
        config: the fully resolved configuration.
        sources: the source of each pair, by which `interval` resamples; if they are omitted, each
            pair counts as a source of its own.
        predictions: the summaries, which a notebook shows; they may be omitted.

    Example:
        >>> from estime_metric import estime
        >>> result = estime(["The cat slept."], ["The cat slept while it rained."], model="embedded")
        >>> result["alarms"].tolist(), next(iter(result))["alarms"]
        ([0.0], 0.0)
    """

    def __init__(
        self,
        statistics: Tensor,
        config: EstimeConfig,
        sources: Sequence[str] | None = None,
        predictions: Sequence[str] | None = None,
    ) -> None:
        self._statistics = statistics
        self._sources = sources
        self._predictions = predictions
        self._warned: set[str] = set()
        self.config = config

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that were read, in the order asked for."""
        return self.config.layer_tuple

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that `values` gives."""
        return (
            *BASE_MEASURES,
            *(name for name in self.config.measures if name in FURTHER_MEASURES),
        )

    @property
    def signature(self) -> Signature:
        """One line that says how these numbers came about; see `EstimeConfig.signature`. Its
        ``short`` form is for the caption of a table.
        """
        return self.config.signature()

    @property
    def coverage(self) -> float:
        """The mean share of a summary's units that are checked, as the source has them: 0 to 1; NaN
        without pairs.
        """
        return self.mean("coverage", self.layers[0])

    @property
    def unchecked(self) -> list[int]:
        """Indices of pairs in which no summary unit occurs in the source, so that none was checked.

        With the unit ``token`` their alarms are 0; with ``word`` their words are alarms, but for
        those that share the first token with a source word. Their ``alarm_rate`` is NaN, their
        ``inconsistency`` 1.
        """
        return self._where_none("overlap")

    @property
    def blank(self) -> list[int]:
        """Indices of pairs whose summary has no unit, most often an empty text; they are also
        `unchecked`.

        Their counts are 0, their shares the worst value (``inconsistency`` 1), and ``alarm_rate``
        is NaN.
        """
        return self._where_none("tokens")

    def __len__(self) -> int:
        return len(self._statistics)

    def __iter__(self) -> Iterator[dict[str, float]]:
        """A record for each pair, in input order: measure -> value. With several layers the names
        end in the layer, as everywhere (`reported_name`).
        """
        columns = self._columns()
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

    def __repr__(self) -> str:
        return f"EstimeResult({len(self)} pairs, {self.signature})"

    def __str__(self) -> str:
        lines = [
            f"{RECOMMENDED} {_shown(self.interval(RECOMMENDED, layer))}, {self.mean(PAPER_MEASURE, layer):.3f} alarms per "
            f"summary (both: lower is better), coverage {self.mean('coverage', layer):.4f}, {len(self)} pairs, "
            f"layer {layer}"
            for layer in self.layers
        ]
        foreign = sorted(set(self.unchecked) - set(self.blank))
        for said, indices in (
            (f"Blank summaries, {RECOMMENDED} {MEASURES[RECOMMENDED].blank:g}", self.blank),
            ("Pairs with no token in common, so nothing was checked", foreign),
        ):
            if indices:
                listed = ", ".join(map(str, indices[:_LISTED])) + (
                    ", ..." if len(indices) > _LISTED else ""
                )
                lines.append(f"{said}: {len(indices)} (index {listed})")
        return "\n".join([*lines, self.signature])

    def values(self, measure: str, layer: int | None = None) -> Tensor:
        """One measure for every pair.

        Args:
            measure: one of `measures`; ``estime_metric.measures.MEASURES`` says what they are.
            layer: one of ``layers``; may be left out where there is just one.

        Returns:
            float64 of shape (pairs,), in input order, on the CPU; yours to change. See `unchecked`
            and `blank`.

        Raises:
            ValueError: a measure that is unknown or was not asked for, a layer that was not read,
                or none given where several were read.
        """
        if measure in FURTHER_MEASURES and measure not in self.config.measures:
            raise ValueError(
                f"Expected argument `measures` to name {measure!r} when scoring, but it did not."
            )
        with torch.inference_mode(False):  # otherwise they could not be changed in place
            return compute(measure, self._statistics[:, self._layer_index(layer)]).clone()

    def mean(self, measure: str, layer: int | None = None) -> float:
        """The mean of one measure over the pairs for which it is defined; NaN where there is none.
        Arguments as for `values`. If pairs are left out, a warning says how many, once for each
        measure.
        """
        values = self.values(measure, layer)
        undefined = int(values.isnan().sum())
        if undefined and measure not in self._warned:
            self._warned.add(measure)
            blank, others = len(self.blank), len(self.unchecked) - len(self.blank)
            said = f"{measure} is undefined for {undefined} of {len(values)} pairs, which are left out of its mean. "
            counts = f"Blank summaries: {blank}; others without a token of their source: {others}."
            warnings.warn(said + counts, stacklevel=2)
        return float(values.nanmean())

    def flags(
        self,
        threshold: float | str = "balanced",
        measure: str = RECOMMENDED,
        layer: int | None = None,
    ) -> Tensor:
        """Which summaries are worth a look: those whose value is at the threshold or worse, or
        undefined.

        No threshold suits all texts; ``estime calibrate`` finds one for yours from fifty judged
        summaries.

        Args:
            threshold: a value of the measure, or ``"balanced"`` for the one that was measured with
                a bundled encoder; a warning says so if it was measured with other settings.
            measure: a measure that judges.
            layer: as for `values`.

        Returns:
            bool of shape (pairs,), in input order.

        Raises:
            TypeError, ValueError: ``threshold`` is no number, or none is documented; the measure
                has no direction; or as for `values`.
        """
        check_choice("measure", measure, tuple(HIGHER_IS_BETTER))
        values = self.values(measure, layer)
        read = self.layers[self._layer_index(layer)]
        signature = replace(self.config, layers=read).signature()
        limit = threshold_value(threshold, measure, signature)
        acceptable = values > limit if HIGHER_IS_BETTER[measure] else values < limit
        return acceptable.logical_not()

    def ties(self, layer: int | None = None, measure: str = "alarms") -> int:
        """How much of a measure rounding can decide: comparisons of two nearly equal dot products.

        With another batch size, order or device ``alarms`` and ``winners`` change by no more than
        that. For ``soft``, ``coherence`` and ``alarms_alltokens`` it is the number of summary units
        whose best match may be another one; 0 for a measure that no dot product decides, such as
        ``overlap``. In float32 dot products within 1e-4 of each other count, as a share of the
        product of lengths; in bfloat16, which rounds far more, 2**-6, in float16 2**-9.
        """
        self.values(measure, layer)  # refuses what was not asked for
        counted = {TIES[name] for name in MEASURES[measure].needs if name in TIES}
        return sum(
            int(self._statistics[:, self._layer_index(layer), STATISTICS.index(name)].sum())
            for name in counted
        )

    def interval(
        self, measure: str, layer: int | None = None, *, confidence: float = CONFIDENCE
    ) -> Interval:
        """The mean of a measure with its bootstrap interval over sources (see `BootstrapMeans`).

        Args:
            measure, layer: as for `values`.
            confidence: the share of the resamples within the interval, between 0 and 1.

        Returns:
            An `Interval` with ``mean``, ``low``, ``high`` and ``count``; pairs for which the measure
            is undefined are left out.
        """
        if not 0 < confidence < 1:
            raise ValueError(
                f"Expected argument `confidence` to lie between 0 and 1, but got {confidence}."
            )
        values = self.values(measure, layer).tolist()
        return self._bootstrap({measure: values}).interval(measure, confidence)

    def to_dict(self) -> dict[str, Any]:
        """Everything about the whole run as plain numbers and strings, for JSON.

        Returns:
            ``pairs``, ``blank`` and ``unchecked`` (how many); ``measures``: name -> ``mean``,
            ``low`` and ``high`` of the 95% interval, and ``count``, with ``None`` for a value that
            is undefined; ``signature`` and ``short_signature``.
        """
        columns = self._columns()
        means = self._bootstrap(columns)
        return {
            "pairs": len(self),
            "blank": len(self.blank),
            "unchecked": len(self.unchecked),
            "measures": {name: means.interval(name).to_dict() for name in columns},
            "signature": str(self.signature),
            "short_signature": self.signature.short,
        }

    def to_pandas(self, columns: Mapping[str, Sequence[Any]] | None = None) -> DataFrame:
        """A row for each pair and layer.

        Args:
            columns: your own columns, such as ids, with a value for each pair; they come first.

        Returns:
            A data frame with ``columns``, ``pair``, ``layer`` and each measure.

        Raises:
            ImportError: pandas is not installed.
            ValueError: a column has another length than the result, or the name of one of its
                columns.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "to_pandas() needs pandas: pip install 'estime-metric[meta]'."
            ) from error
        own = ("pair", "layer", *self.measures)
        layers = len(self.layers)
        found: dict[str, Any] = {}
        for name, values in (columns or {}).items():
            if name in own:
                wanted = f"other names than those of the result ({', '.join(own)})"
                raise ValueError(f"Expected argument `columns` to have {wanted}, but got {name!r}.")
            if len(values) != len(self):
                wanted = f"a value for each of {len(self)} pairs"
                raise ValueError(
                    f"Expected argument `columns` to have {wanted}, but {name!r} has {len(values)}."
                )
            found[name] = [value for value in values for _ in range(layers)]
        found["pair"] = [pair for pair in range(len(self)) for _ in range(layers)]
        found["layer"] = list(self.layers) * len(self)
        for measure in self.measures:
            found[measure] = compute(measure, self._statistics).flatten().numpy()
        return pandas.DataFrame(found)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a row for each pair, and the signature: JSON Lines, CSV or Parquet, by the ending of
        ``path``. ``estime compare`` reads it.

        Raises:
            ValueError: another ending.
            ImportError: Parquet without pyarrow.
        """
        rows = [
            {"line": number, **record, "signature": str(self.signature)}
            for number, record in enumerate(self, start=1)
        ]
        files.write_rows(Path(path), rows)

    def _repr_html_(self) -> str:
        """What a notebook shows: the means with their intervals, and the worst summaries."""
        from estime_metric.explain.result import render  # a notebook asked for it

        return render(self, self._predictions)

    def _columns(self) -> dict[str, list[float]]:
        """Reported name -> the values of all pairs."""
        return {
            reported_name(measure, layer, self.layers): self.values(measure, layer).tolist()
            for layer in self.layers
            for measure in self.measures
        }

    def _bootstrap(self, columns: Mapping[str, Sequence[float]]) -> BootstrapMeans:
        means = BootstrapMeans(tuple(columns))
        means.add(self._sources or [str(row) for row in range(len(self))], columns)
        return means

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


def _shown(found: Interval) -> str:
    """A mean with its interval, if it has one."""
    if math.isnan(found.low):
        return f"{found.mean:.4f}"
    return f"{found.mean:.4f} (95% interval {found.low:.4f} to {found.high:.4f})"
