"""What a scoring run returns: the statistics of every pair, and everything that is computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from estime_metric.config import ALL_UNIT_MEASURES, BASE_MEASURES, EstimeConfig
from estime_metric.engine.measures import STATISTICS, compute
from estime_metric.inputs import check_choice

if TYPE_CHECKING:
    from pandas import DataFrame


class EstimeResult:
    """Scores of a list of pairs, in the order in which they came in.

    Args:
        statistics: float64 of shape (pairs, layers, statistics), in the order of ``STATISTICS``.
        config: the configuration with nothing left open.
    """

    def __init__(self, statistics: Tensor, config: EstimeConfig) -> None:
        self._statistics = statistics
        self.config = config

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that were read, in the order in which they were asked for."""
        return self.config.layer_tuple

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures that `values` gives."""
        return (*BASE_MEASURES, *(name for name in self.config.measures if name in ALL_UNIT_MEASURES))

    @property
    def signature(self) -> str:
        """One line that says how these numbers came about; see `EstimeConfig.signature`."""
        return self.config.signature()

    @property
    def unchecked(self) -> list[int]:
        """Indices of pairs in which no summary unit occurs in the source, so that none could be checked.

        Their alarms are 0 with the unit ``token``; with ``word`` their words count as alarms, but for those whose first
        token is also that of a source word.
        """
        overlap = self._statistics[:, 0, STATISTICS.index("overlap")]
        return [int(index) for index in torch.nonzero(overlap == 0).flatten()]

    def __len__(self) -> int:
        return len(self._statistics)

    def __repr__(self) -> str:
        return f"EstimeResult({len(self)} pairs, {self.signature})"

    def values(self, measure: str = "alarms", layer: int | None = None) -> Tensor:
        """One measure for every pair.

        Args:
            measure: ``alarms``, ``alarm_rate``, ``alarms_adjusted``, ``winners``, ``overlap``, ``tokens``, and of
                ``alarms_alltokens``, ``soft``, ``coherence`` those that `EstimeConfig.measures` asked for.
            layer: one of ``layers``; may be left out where there is just one.

        Returns:
            float64 of shape (pairs,), in input order, on the CPU.

        Raises:
            ValueError: a measure that is unknown or was not asked for, a layer that was not read, or none given where
                several were read.
        """
        if measure in ALL_UNIT_MEASURES and measure not in self.config.measures:
            raise ValueError(f"Expected argument `measures` to name {measure!r} when scoring, but it did not.")
        return compute(measure, self._statistics[:, self._place(layer)])

    def mean(self, measure: str = "alarms", layer: int | None = None) -> float:
        """The mean of one measure over the pairs; 0.0 where there are none. Arguments as for `values`."""
        values = self.values(measure, layer)
        return float(values.mean()) if len(values) else 0.0

    def ties(self, layer: int | None = None) -> int:
        """How many verdicts hang on two dot products within 1e-4 of each other, relative.

        No other verdict can change with batch size, order or device; these may, by rounding alone.
        """
        return int(self._statistics[:, self._place(layer), STATISTICS.index("ties")].sum())

    def to_pandas(self) -> DataFrame:
        """A tidy table: a row for each pair and layer, columns ``pair``, ``layer`` and one for each measure.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install 'estime-metric[meta]'.") from error
        pairs, layers = torch.arange(len(self)), torch.tensor(self.layers)
        columns = {
            "pair": pairs.repeat_interleave(len(layers)).numpy(),
            "layer": layers.repeat(len(pairs)).numpy(),
        }
        for measure in self.measures:
            columns[measure] = compute(measure, self._statistics).flatten().numpy()
        return pandas.DataFrame(columns)

    def _place(self, layer: int | None) -> int:
        if layer is None:
            if len(self.layers) > 1:
                raise ValueError(
                    f"Expected argument `layer` to be one of {', '.join(map(str, self.layers))}, since several were "
                    "read, but got None."
                )
            return 0
        check_choice("layer", layer, self.layers)
        return self.layers.index(layer)
