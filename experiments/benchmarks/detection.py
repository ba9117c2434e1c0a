"""How well scores detect inconsistent summaries in each part of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.stats.checks import Floats
from estime_metric.studies.benchmarks.shared.frames import with_interval


@dataclass(frozen=True, eq=False)
class Detection:
    """What was found in a part: its names, the number of ``summaries`` with a score, and balanced
    ``accuracies`` and ``areas`` under the ROC curve of the sample itself, then of every resample.
    ``threshold``: of the scores; NaN of several parts.
    """

    names: dict[str, str]
    summaries: int
    accuracies: Floats
    areas: Floats
    threshold: float = float("nan")

    def row(self) -> dict[str, Any]:
        """A row of a tidy table: ``accuracy`` and ``area`` with the ends of their intervals."""
        return {
            **self.names,
            "summaries": self.summaries,
            "threshold": self.threshold,
            **with_interval(self.accuracies, "accuracy"),
            **with_interval(self.areas, "area"),
        }


def mean_of(
    detections: Sequence[Detection], names: dict[str, str], weights: Sequence[int] | None = None
) -> Detection:
    """The mean of several parts, each with the same weight if no ``weights`` are given."""
    return Detection(
        names=names,
        summaries=sum(part.summaries for part in detections),
        accuracies=np.average([part.accuracies for part in detections], axis=0, weights=weights),
        areas=np.average([part.areas for part in detections], axis=0, weights=weights),
    )


def check_labels(table: pd.DataFrame, name: str) -> None:
    """Raises ValueError for a ``label`` that is neither 0 nor 1; ``name`` is the data's."""
    for row in table[~table["label"].isin((0, 1))].itertuples():
        raise ValueError(
            f"Expected labels 0 and 1 in {name}, but got {row.label!r} for {row.system!r}."
        )
