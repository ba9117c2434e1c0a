"""How well scores detect inconsistent summaries: thresholds from ``val``, accuracies on ``test``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from experiments.benchmarks.accuracy import choose_threshold
from experiments.benchmarks.aggrefact.data import AggreFact, Place
from experiments.benchmarks.aggrefact.published import DETECTORS, TABLE_8
from experiments.benchmarks.detection import MEAN, detect, with_published

#: The columns of a `Place`.
PLACE = list(Place._fields)


def analyze(scores: Scores[AggreFact], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """Each measure in each cell, origin of the articles, dataset and class of systems, and the mean of
    the cells: ``detection.csv``, see `detect`.

    The threshold is chosen on ``val``; accuracy and area are computed on ``test``. A cell that lacks
    one of the splits is excluded. Of detectors without scores in the data there is the printed
    accuracy alone.
    """
    computed = detect(
        scores,
        {tuple(place): rows.index for place, rows in scores.data.cells().items()},
        PLACE,
        classify,
        unit="document",
        resamples=resamples,
        seed=seed,
    )
    printed = [
        {"measure": f"{name}, printed", **row}
        for name in DETECTORS
        if name not in scores.data.published
        for row in _printed(scores.data, name)
    ]
    return with_published(computed, pd.DataFrame(printed, columns=computed.columns))


def classify(summaries: pd.DataFrame) -> pd.DataFrame:
    """The split ``test`` of a cell, classified by the threshold of ``val``; none if there is no
    ``val``.
    """
    val, test = (summaries[summaries["split"] == split] for split in ("val", "test"))
    if not len(val):
        return val
    threshold = choose_threshold(val["label"].to_numpy(), val["score"].to_numpy())
    return test.assign(predicted=test["score"] > threshold, threshold=threshold)


def _printed(data: AggreFact, detector: str) -> Iterator[dict[str, Any]]:
    """The printed accuracies of the cells in the data, and their mean if there are several."""
    rows = {place: TABLE_8[place] for place in data.cells() if place in TABLE_8}
    for place, row in rows.items():
        yield {
            **place._asdict(),
            "summaries": row.summaries,
            "accuracy": row.accuracies[detector],
        }
    if len(rows) > 1:
        mean = np.mean([row.accuracies[detector] for row in rows.values()])
        summaries = sum(row.summaries for row in rows.values())
        yield {**dict.fromkeys(PLACE, MEAN), "summaries": summaries, "accuracy": mean}
