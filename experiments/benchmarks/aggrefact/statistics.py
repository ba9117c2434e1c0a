"""How well scores detect inconsistent summaries: thresholds from ``val``, accuracies on ``test``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import areas, balanced_accuracies, choose_threshold
from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, ScoreColumn
from estime_metric.studies.benchmarks.shared.frames import (
    Frames,
    Resamples,
    each_column,
    ids_of,
)
from estime_metric.studies.benchmarks.shared.scores import Scores
from experiments.benchmarks.aggrefact.data import (
    CLASSES,
    ORIGINS,
    AggreFact,
    Place,
)
from experiments.benchmarks.aggrefact.published import DETECTORS, TABLE_8
from experiments.benchmarks.detection import Detection, mean_of

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
    data = scores.data
    documents = Resamples(data.table["document"], resamples, seed)

    def rows_of(column: ScoreColumn) -> list[dict[str, Any]]:
        return _rows(detect(data, scores.oriented(column), documents))

    computed = each_column(scores, rows_of, [*PLACE, *_VALUES])
    printed = pd.DataFrame(
        [
            {**ids_of(printed_column(name)), **row}
            for name in DETECTORS
            if name not in data.published
            for row in _rows(_printed(data, name))
        ],
        columns=computed.columns,
    )
    return {DETECTION: pd.concat([computed, printed], ignore_index=True)}


def printed_column(detector: str) -> ScoreColumn:
    """The row of a detector with the accuracies published in the paper."""
    return ScoreColumn(f"printed:{detector}", f"{detector}, printed", PUBLISHED)


def detect(data: AggreFact, values: Floats, documents: Resamples) -> Iterator[Detection]:
    """Thresholds, accuracies and areas of scores, higher is better, in each cell."""
    for place, table in data.cells().items():
        known = table.assign(score=values[table.index]).dropna(subset="score")
        val, test = known[known["split"] == "val"], known[known["split"] == "test"]
        if len(val) and len(test):
            threshold = choose_threshold(val["label"].to_numpy(), val["score"].to_numpy())
            labels, tested = test["label"].to_numpy(), test["score"].to_numpy()
            weights = documents.weights(test.index)
            yield Detection(
                names=place._asdict(),
                summaries=len(test),
                threshold=threshold,
                accuracies=balanced_accuracies(labels, tested > threshold, weights),
                areas=areas(labels, tested, weights),
            )


def _printed(data: AggreFact, detector: str) -> Iterator[Detection]:
    for place in data.cells():
        if row := TABLE_8.get(place):
            yield Detection(
                names=place._asdict(),
                summaries=row.summaries,
                accuracies=np.array([row.accuracies[detector]]),
                areas=np.array([np.nan]),
            )


def _rows(detections: Iterable[Detection]) -> list[dict[str, Any]]:
    """A row per cell, then one per mean: of the cells of an origin and a class if there are several,
    weighted by summaries.
    """
    cells = list(detections)
    rows = [cell.row() for cell in cells]
    for origin, group in product(ORIGINS, CLASSES):
        names = {"origin": origin, "group": group}
        some = [cell for cell in cells if names.items() <= cell.names.items()]
        if len(some) > 1:
            counts = [cell.summaries for cell in some]
            rows.append(mean_of(some, {**names, "dataset": MEAN}, counts).row())
    return rows
