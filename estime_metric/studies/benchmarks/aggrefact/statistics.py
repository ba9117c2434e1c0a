"""How well scores detect inconsistent summaries: thresholds from ``val``, accuracies on ``test``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import areas, balanced_accuracies, choose_threshold
from estime_metric.studies.benchmarks.aggrefact.data import (
    CLASSES,
    ORIGINS,
    AggreFact,
    Place,
    PlaceSummaries,
)
from estime_metric.studies.benchmarks.aggrefact.published import DETECTORS, TABLE_8
from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, ScoreColumn
from estime_metric.studies.benchmarks.shared.frames import (
    IDS,
    Frames,
    Resamples,
    each_column,
    ids_of,
    with_interval,
)
from estime_metric.studies.benchmarks.shared.scores import Scores

DETECTION = "detection.csv"
#: Instead of a dataset: the mean over the datasets of an origin and a class, weighted by their
#: summaries.
MEAN = "mean"
#: The columns of a `Place`.
PLACE = list(Place._fields)
_VALUES = [
    "summaries",
    "threshold",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "area",
    "area_low",
    "area_high",
]


def analyze(scores: Scores[AggreFact], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """Each measure in each cell: origin of the articles, dataset, class of systems.

    The threshold is chosen on ``val`` (`detection.choose_threshold`); accuracy and area are
    computed on ``test``, with 95% intervals from a bootstrap over documents that keeps the
    threshold. A cell that lacks one of the splits is excluded, as is a summary without a score.

    ``detection.csv``: ``column``, ``measure``, ``section``, ``origin``, ``dataset`` (`MEAN` for the
    mean of the cells of an origin and a class), ``group`` (the class), ``summaries``,
    ``threshold``, ``accuracy``, ``area``, and of both the ends of the interval, ``NAME_low`` and
    ``NAME_high``. Of detectors without scores in the data there is the printed accuracy alone.
    """
    documents = Resamples([key.document for key in scores.data.keys], resamples, seed)

    def of_column(column: ScoreColumn) -> pd.DataFrame:
        return _frame(detect(scores.data, scores.oriented(column), documents))

    computed = each_column(scores, of_column, [*PLACE, *_VALUES])
    printed = [
        _frame(_printed(scores.data, name)).assign(**ids_of(printed_column(name)))
        for name in DETECTORS
        if name not in scores.data.published
    ]
    return {DETECTION: pd.concat([computed, *printed], ignore_index=True)[[*IDS, *PLACE, *_VALUES]]}


def printed_column(detector: str) -> ScoreColumn:
    """The row of a detector with the accuracies published in the paper."""
    return ScoreColumn(f"printed:{detector}", f"{detector}, printed", PUBLISHED)


@dataclass(frozen=True, eq=False)
class CellDetection:
    """What was found in a cell: ``summaries`` of ``test``, the ``threshold``, and the
    ``accuracies`` and ``areas`` of the sample itself, then of every resample.
    """

    place: Place
    summaries: int
    threshold: float
    accuracies: Floats
    areas: Floats


def detect(data: AggreFact, values: Floats, documents: Resamples) -> Iterator[CellDetection]:
    """Thresholds, accuracies and areas of scores, higher is better, in each cell."""
    labels = data.table["label"].to_numpy(dtype=np.int64)
    for cell in data.cells():
        val, test = _scored(cell, values, "val"), _scored(cell, values, "test")
        if len(val) and len(test):
            threshold = choose_threshold(labels[val], values[val])
            weights = documents.weights(test)
            yield CellDetection(
                place=cell.place,
                summaries=len(test),
                threshold=threshold,
                accuracies=balanced_accuracies(labels[test], values[test] > threshold, weights),
                areas=areas(labels[test], values[test], weights),
            )


def _scored(
    cell: PlaceSummaries, values: Floats, split: str
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Indices of a cell's summaries of a split that have a score."""
    of_split = np.asarray(cell.table.index[cell.table["split"] == split], dtype=np.int64)
    return of_split[np.isfinite(values[of_split])]


def _printed(data: AggreFact, detector: str) -> Iterator[CellDetection]:
    for cell in data.cells():
        if row := TABLE_8.get(cell.place):
            yield CellDetection(
                place=cell.place,
                summaries=row.summaries,
                threshold=np.nan,
                accuracies=np.array([row.accuracies[detector]]),
                areas=np.array([np.nan]),
            )


def _frame(detections: Iterable[CellDetection]) -> pd.DataFrame:
    """A row per cell, then one per mean."""
    cells = list(detections)
    return pd.DataFrame(
        [
            {
                **cell.place._asdict(),
                "summaries": cell.summaries,
                "threshold": cell.threshold,
                **with_interval(cell.accuracies, "accuracy"),
                **with_interval(cell.areas, "area"),
            }
            for cell in (*cells, *means(cells))
        ],
        columns=[*PLACE, *_VALUES],
    )


def means(cells: Iterable[CellDetection]) -> Iterator[CellDetection]:
    """The means of the cells of an origin and a class if there are several, weighted by summaries."""
    every = list(cells)
    for origin, group in product(ORIGINS, CLASSES):
        some = [cell for cell in every if (cell.place.origin, cell.place.group) == (origin, group)]
        if len(some) > 1:
            counts = [cell.summaries for cell in some]
            yield CellDetection(
                place=Place(origin, MEAN, group),
                summaries=sum(counts),
                threshold=np.nan,
                accuracies=np.average([cell.accuracies for cell in some], axis=0, weights=counts),
                areas=np.average([cell.areas for cell in some], axis=0, weights=counts),
            )
