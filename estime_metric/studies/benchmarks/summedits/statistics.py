"""What is computed of scores on SummEdits: areas under the ROC curve and balanced accuracies by
domain. All are in percent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import (
    Labels,
    areas,
    balanced_accuracies,
    choose_threshold,
)
from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, ScoreColumn
from estime_metric.studies.benchmarks.shared.detection import Detection, mean_of
from estime_metric.studies.benchmarks.shared.frames import (
    Frames,
    Resamples,
    each_column,
    ids_of,
)
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.summedits.data import SummEdits
from estime_metric.studies.benchmarks.summedits.published import PUBLISHED as PUBLISHED_ACCURACIES

#: In place of a domain: the mean of the domains that the data have.
MEAN = "mean"
#: Accuracy and area of a measure that says nothing, in percent.
CHANCE = 50
DETECTION = "detection.csv"
_VALUES = ["accuracy", "accuracy_low", "accuracy_high", "area", "area_low", "area_high"]


def analyze(scores: Scores[SummEdits], *, resamples: int = 1000, seed: int = 0) -> Frames:
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
    documents = Resamples(scores.data.document_of_each, resamples, seed)

    def of_column(column: ScoreColumn) -> pd.DataFrame:
        values = scores.oriented(column)
        domains = [
            _detect(scores.data, values, domain, documents) for domain in scores.data.domains
        ]
        mean = mean_of(domains, {"domain": MEAN})
        return pd.DataFrame([of_domain.row() for of_domain in (*domains, mean)])

    computed = each_column(scores, of_column, ["domain", "summaries", *_VALUES])
    return {DETECTION: pd.concat([computed, published(scores.data)], ignore_index=True)}


def cross_validated(
    labels: Labels, scores: Floats, documents: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """Which of k summaries are classified as consistent: those with a score above the threshold
    that is best for the summaries of all *other* documents (`detection.choose_threshold`).

    Labels and scores are of shape (k,), higher scores are more consistent; ``documents`` names the
    document of each summary. ValueError for fewer than two documents.
    """
    of_each = np.array(documents, dtype=object)
    names = dict.fromkeys(documents)
    if len(names) < 2:
        raise ValueError(f"Expected at least two documents, but got {len(names)}.")
    consistent = np.zeros(len(scores), dtype=bool)
    for name in names:
        held_out = of_each == name
        threshold = choose_threshold(labels[~held_out], scores[~held_out])
        consistent[held_out] = scores[held_out] > threshold
    return consistent


def published(data: SummEdits) -> pd.DataFrame:
    """The published accuracies as rows of the tidy table; the mean is over the domains in the data."""
    rows = []
    for model, accuracies in PUBLISHED_ACCURACIES.items():
        ids = ids_of(ScoreColumn(f"published:{model}", model, PUBLISHED))
        known = {
            name: accuracies.domains[name] for name in data.domains if name in accuracies.domains
        }
        for domain, accuracy in known.items():
            rows.append({**ids, "domain": domain, "accuracy": accuracy})
        if known:
            mean = float(np.mean(list(known.values())))
            rows.append({**ids, "domain": MEAN, "accuracy": mean})
    return pd.DataFrame(rows)


def _detect(data: SummEdits, values: Floats, domain: str, documents: Resamples) -> Detection:
    inside = data.rows(domain)
    inside = inside[np.isfinite(values[inside])]
    weights = documents.weights(inside)
    labels, scored = data.labels[inside], values[inside]
    names = [data.document_of_each[index] for index in inside]
    if len(set(names)) < 2:  # there is no other document for a threshold
        accuracies = np.full(len(weights), np.nan)
    else:
        accuracies = balanced_accuracies(labels, cross_validated(labels, scored, names), weights)
    return Detection(
        names={"domain": domain},
        summaries=len(inside),
        accuracies=100 * accuracies,
        areas=100 * areas(labels, scored, weights),
    )
