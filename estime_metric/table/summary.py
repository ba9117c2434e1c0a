"""What the scores of some pairs come to: counts, and means with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from estime_metric.measures import measure_of
from estime_metric.table.intervals import FEW_SOURCES, Interval, intervals


@dataclass(frozen=True)
class Summary:
    """Counts and means of pairs.

    Attributes:
        pairs: how many pairs.
        blank: how many summaries have no token at all.
        unchecked: how many summaries share no token with their source, blank ones included.
        uncounted_names: in how many summaries names could not be counted, because capitals say nothing
            there.
        few_sources: how many different sources there are if they are so few that intervals are too
            narrow.
        means: for each measure (``alarms``, or ``alarms_layer12`` if there are several layers) the
            mean with its 95% interval by source.
    """

    pairs: int
    blank: int
    unchecked: int
    uncounted_names: int
    few_sources: int | None
    means: Mapping[str, Interval]

    @classmethod
    def of(
        cls,
        source_ids: Sequence[str],
        columns: Mapping[str, Sequence[float] | npt.NDArray[np.float64]],
    ) -> Summary:
        """The summary of pairs with these sources and these values of measures, those of the first
        layer first.
        """
        first = {measure_of(name): name for name in reversed(list(columns))}
        tokens, coverage, names = (
            np.asarray(columns[first[measure]]) for measure in ("tokens", "coverage", "new_names")
        )
        sources = len(set(source_ids))
        return cls(
            pairs=len(source_ids),
            blank=int((tokens == 0).sum()),
            unchecked=int((coverage == 0).sum()),
            uncounted_names=int(np.isnan(names).sum()),
            few_sources=sources if sources < FEW_SOURCES else None,
            means=intervals(source_ids, columns),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON, with the means as ``measures``."""
        measures = {name: mean.to_dict() for name, mean in self.means.items()}
        counts = {name: value for name, value in vars(self).items() if name != "means"}
        return {**counts, "measures": measures}
