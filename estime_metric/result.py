"""What a scoring run returns: the statistics of every pair, and all that is computed from them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.inputs import check_choice
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
)
from estime_metric.operating_points import threshold_value

if TYPE_CHECKING:
    from pandas import DataFrame

_LISTED = 10  # indices that `str` names


class EstimeResult:
    """Scores of a list of pairs, in input order; ``print(result)`` tells score, coverage and
    signature.

    ``result["alarms"]`` gives a measure for every pair, ``result["alarms", 12]`` at one of several
    layers.

    Args:
        statistics: float64 of shape (pairs, layers, statistics), in the order of ``STATISTICS``.
        config: the configuration with nothing left open.
    """

    def __init__(self, statistics: Tensor, config: EstimeConfig) -> None:
        self._statistics = statistics
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
    def signature(self) -> str:
        """One line that says how these numbers came about; see `EstimeConfig.signature`."""
        return self.config.signature()

    @property
    def score(self) -> float:
        """The mean number of alarms: 0 and up, lower is better; NaN without pairs; ValueError with
        several layers.
        """
        return self.mean("alarms")

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
            f"{RECOMMENDED} {self.mean(RECOMMENDED, layer):.4f}, {self.mean(PAPER_MEASURE, layer):.3f} alarms per "
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

    def values(self, measure: str = "alarms", layer: int | None = None) -> Tensor:
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

    def mean(self, measure: str = "alarms", layer: int | None = None) -> float:
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

    def to_pandas(self) -> DataFrame:
        """A row for each pair and layer, columns ``pair``, ``layer`` and each measure; ImportError
        without pandas.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "to_pandas() needs pandas: pip install 'estime-metric[meta]'."
            ) from error
        pairs = torch.arange(len(self), device="cpu")
        layers = torch.tensor(self.layers, device="cpu")
        columns = {"pair": pairs.repeat_interleave(len(layers)), "layer": layers.repeat(len(pairs))}
        columns |= {
            measure: compute(measure, self._statistics).flatten() for measure in self.measures
        }
        return pandas.DataFrame({name: values.numpy() for name, values in columns.items()})

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
