"""How well scores detect inconsistent summaries: thresholds from ``val``, accuracies on ``test``."""

from __future__ import annotations

import pandas as pd

from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from experiments.benchmarks.accuracy import choose_threshold
from experiments.benchmarks.aggrefact.data import PLACE, AggreFact
from experiments.benchmarks.aggrefact.published import DETECTORS, TABLE_8
from experiments.benchmarks.detection import MEAN, detect, with_published


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
    return with_published(computed, _printed(scores.data))


def classify(summaries: pd.DataFrame) -> pd.DataFrame:
    """The split ``test`` of a cell, classified by the threshold of ``val``; none if there is no
    ``val``.
    """
    val, test = (summaries[summaries["split"] == split] for split in ("val", "test"))
    if not len(val):
        return val
    threshold = choose_threshold(val["label"].to_numpy(), val["score"].to_numpy())
    return test.assign(predicted=test["score"] > threshold, threshold=threshold)


def _printed(data: AggreFact) -> pd.DataFrame:
    """The printed accuracies of the detectors without scores in the data: a row for each detector and
    cell in the data, and the mean of its cells if there are several.
    """
    rows = TABLE_8.loc[[place for place in data.cells() if place in TABLE_8.index]]
    if len(rows) > 1:
        mean = rows.mean().to_frame(tuple([MEAN] * len(PLACE))).T
        mean["summaries"] = rows["summaries"].sum()
        rows = pd.concat([rows, mean]).rename_axis(PLACE).astype({"summaries": int})
    detectors = [name for name in DETECTORS if name not in data.published]
    printed = rows.reset_index().melt(
        [*PLACE, "summaries"], detectors, var_name="measure", value_name="accuracy"
    )
    return printed.assign(measure=printed["measure"].astype(str) + ", printed")
