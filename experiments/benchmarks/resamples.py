"""Bootstrap samples of documents and other groups, as weights of summaries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.studies.benchmarks.shared.frames import drawn_weights
from estime_metric.table.arrays import Floats


class Resamples:
    """Bootstrap samples of groups of summaries, for example of the documents, the same ones for
    everything that is computed with them.

    Args:
        group_of_each: the group of each summary; whole groups are drawn with replacement.
        resamples, seed: how many, and of the random numbers.
    """

    def __init__(self, group_of_each: Sequence[str] | pd.Series, resamples: int, seed: int) -> None:
        codes, groups = pd.factorize(pd.Series(group_of_each, dtype=object))
        self._group_of_each = codes
        self._weights = drawn_weights(len(groups), resamples, seed)

    def weights(self, rows: pd.Index | npt.NDArray[np.int64]) -> Floats:
        """How often the sample itself, and then each resample, contains each of k summaries, given
        by their numbers; float64 of shape (1 + resamples, k).
        """
        return self._weights[:, self._group_of_each[rows]]
