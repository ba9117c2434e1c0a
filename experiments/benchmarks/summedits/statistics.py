"""What is computed of scores on SummEdits: areas under the ROC curve and balanced accuracies by
domain. All are in percent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import areas, balanced_accuracies, choose_threshold
from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames, Resamples, each_column
from estime_metric.studies.benchmarks.shared.scores import Scores
from experiments.benchmarks.detection import Detection, mean_of
from experiments.benchmarks.summedits.published import PUBLISHED as PUBLISHED_ACCURACIES

#: In place of a domain: the mean of the domains that the data have.
MEAN = "mean"
#: Accuracy and area of a measure that says nothing, in percent.
CHANCE = 50
DETECTION = "detection.csv"
_VALUES = ["accuracy", "accuracy_low", "accuracy_high", "area", "area_low", "area_high"]


def analyze(scores: Scores[Summaries], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How well each measure detects consistent summaries in each domain, and the mean of the
    domains.

    The accuracies use thresholds from the other documents of the domain, see `cross_validated`.
    Intervals come from a bootstrap over documents, with the thresholds kept. A summary without a
    score is excluded for that measure.

    ``detection.csv``: ``column``, ``measure``, ``section``, ``domain`` (or `MEAN`), ``summaries``,
    ``accuracy`` (balanced accuracy), ``area`` (area under the ROC curve), and of both the ends of
    the 95% interval, ``NAME_low`` and ``NAME_high``. Of published models there is the accuracy
    alone.
    """
    table = scores.data.table
    texts = Resamples(table["text"], resamples, seed)

    def rows_of(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        known = table.assign(score=scores.oriented(column)).dropna(subset="score")
        domains = [
            _detect(known[known["document"] == domain], domain, texts)
            for domain in scores.data.documents
        ]
        for part in (*domains, mean_of(domains, {"domain": MEAN})):
            yield part.row()

    computed = each_column(scores, rows_of, ["domain", "summaries", *_VALUES])
    return {DETECTION: pd.concat([computed, published(scores.data.documents)], ignore_index=True)}


def cross_validated(summaries: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Which of k summaries are classified as consistent: those with a ``score`` above the threshold
    that is best for the summaries of all *other* texts (`detection.choose_threshold`).

    Further columns are ``label`` and ``text``; higher scores are more consistent. ValueError for
    fewer than two texts.
    """
    if summaries["text"].nunique() < 2:
        raise ValueError(f"Expected at least two documents, but got {summaries['text'].nunique()}.")
    labels, scores = summaries["label"].to_numpy(), summaries["score"].to_numpy()
    consistent = np.zeros(len(summaries), dtype=bool)
    for text in summaries["text"].unique():
        held_out = (summaries["text"] == text).to_numpy()
        threshold = choose_threshold(labels[~held_out], scores[~held_out])
        consistent[held_out] = scores[held_out] > threshold
    return consistent


def published(domains: list[str]) -> pd.DataFrame:
    """The published accuracies as rows of the tidy table; the mean is over the domains in the data."""
    known = PUBLISHED_ACCURACIES[[name for name in domains if name in PUBLISHED_ACCURACIES]]
    means = [np.mean(of_model) for of_model in known.to_numpy()]
    accuracies = known.assign(**{MEAN: means}).stack().rename("accuracy")
    rows = accuracies.rename_axis(["measure", "domain"]).reset_index()
    return rows.assign(column="published:" + rows["measure"], section=PUBLISHED)


def _detect(summaries: pd.DataFrame, domain: str, texts: Resamples) -> Detection:
    """Accuracy and area of the ``score`` of some summaries."""
    weights = texts.weights(summaries.index)
    labels, scores = summaries["label"].to_numpy(), summaries["score"].to_numpy()
    accuracies: Floats = np.full(len(weights), np.nan)
    if summaries["text"].nunique() > 1:  # otherwise there is no other text for a threshold
        accuracies = balanced_accuracies(labels, cross_validated(summaries), weights)
    return Detection(
        names={"domain": domain},
        summaries=len(summaries),
        accuracies=100 * accuracies,
        areas=100 * areas(labels, scores, weights),
    )
