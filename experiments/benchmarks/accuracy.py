"""Scores and labels -> thresholds, balanced accuracy, area under the ROC curve, also of resamples.

Higher scores are more consistent. Axes: n weightings, k summaries; a weight is the number of times
that a resample contains a summary.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from estime_metric.studies.meta.ranks import by_class, dense, ratio
from estime_metric.table.arrays import Floats

Labels = npt.NDArray[np.int64]

#: Percentiles of the scores that `choose_threshold` tries as thresholds.
PERCENTILES = np.arange(0, 100, 0.2)


def choose_threshold(labels: Labels, scores: Floats) -> float:
    """The threshold of the authors of AggreFact (after Laban et al. 2022): among the percentiles 0,
    .2, ... 99.8 of the finite scores, (k,), the highest with the best balanced accuracy. Labels,
    (k,), are 1 for a consistent summary, otherwise 0."""
    tried = np.percentile(scores, PERCENTILES)
    reached = balanced_accuracies(labels, scores[None, :] > tried[:, None])
    return float(tried[len(tried) - 1 - int(np.argmax(reached[::-1]))])


def balanced_accuracies(
    labels: Labels, predicted: npt.NDArray[np.bool_], weights: Floats | None = None
) -> Floats:
    """Balanced accuracy, the mean of the two classes' recalls, 0 to 1, higher is better, .5 is
    chance; of shape (n,). A class without a summary is excluded, as in scikit-learn; NaN without
    summaries. ``predicted``, (n, k), or (k,) if it is the same for all weightings, says which
    summaries were classified as consistent; the other arguments are as for `areas`."""
    predicted = np.atleast_2d(predicted)
    weights = np.ones((len(predicted), len(labels))) if weights is None else weights
    recalls = []
    for label in (0, 1):
        label_weights = weights * (labels == label)
        recalls.append(
            ratio((label_weights * (predicted == label)).sum(axis=1), label_weights.sum(axis=1))
        )
    return ratio(np.nansum(recalls, axis=0), np.isfinite(recalls).sum(axis=0))


def areas(labels: Labels, scores: Floats, weights: Floats | None = None) -> Floats:
    """Area under the ROC curve, (n,): the fraction of pairs in which a consistent summary scores
    above an inconsistent one, with ties as one half; .5 is chance, NaN if a class has no summary.
    Labels and scores are as for `choose_threshold`; weights of shape (n, k), ``None`` for each
    once."""
    weights = np.ones((1, len(labels))) if weights is None else weights
    codes = dense(scores)
    consistent = by_class(weights * (labels == 1), codes)
    other = by_class(weights * (labels == 0), codes)
    above = (consistent * (np.cumsum(other, axis=1) - other / 2)).sum(axis=1)
    return ratio(above, consistent.sum(axis=1) * other.sum(axis=1))
