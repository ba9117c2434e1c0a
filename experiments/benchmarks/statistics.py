"""Statistics of scores under weights: areas, balanced accuracies, F1, partial correlations.

Axes: n weightings (the sample itself and its resamples), k summaries. A weight is the number of times
that a sample contains a summary. Higher scores are more consistent; labels are 1 for a consistent
summary, otherwise 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from estime_metric.studies.meta.ranks import by_class, dense, mid_ranks, ratio
from estime_metric.table.arrays import Codes, Floats

Flags = npt.NDArray[np.bool_]

#: Percentiles of the scores that `choose_threshold` tries.
PERCENTILES = np.arange(0, 100, 0.2)
#: A share of the spread that rounding leaves if all residuals are equal.
_ROUNDING = 1e-18


def choose_threshold(labels: Codes, scores: Floats) -> float:
    """The threshold of the authors of AggreFact (after Laban et al. 2022): among the percentiles 0,
    .2, ... 99.8 of the scores, (k,), the highest with the best balanced accuracy.
    """
    tried = np.percentile(scores, PERCENTILES)
    reached = balanced_accuracies(labels, scores[None, :] > tried[:, None])
    return float(tried[len(tried) - 1 - int(np.argmax(reached[::-1]))])


def balanced_accuracies(labels: Codes, predicted: Flags, weights: Floats | None = None) -> Floats:
    """The mean of the two classes' recalls, (n,); .5 is chance. A class without a summary is excluded.

    ``predicted``, (n, k) or (k,), says which summaries were classified as consistent; ``weights``,
    (n, k), ``None`` for each once.
    """
    predicted = np.atleast_2d(predicted)
    weights = np.ones(predicted.shape) if weights is None else weights
    recalls = []
    for label in (0, 1):
        of_label = weights * (labels == label)
        recalls.append(ratio((of_label * (predicted == label)).sum(axis=1), of_label.sum(axis=1)))
    return ratio(np.nansum(recalls, axis=0), np.isfinite(recalls).sum(axis=0))


def f1_scores(labels: Codes, predicted: Flags, weights: Floats) -> Floats:
    """F1 of the inconsistent summaries, (n,); ``predicted``, (k,); NaN if there is none and none is
    found.
    """
    flagged, wrong = ~predicted, labels == 0
    hits, either = ((weights * mask).sum(axis=1) for mask in (flagged & wrong, flagged | wrong))
    return ratio(2 * hits, either + hits)


def areas(labels: Codes, scores: Floats, weights: Floats) -> Floats:
    """Area under the ROC curve, (n,): the share of pairs in which a consistent summary scores above an
    inconsistent one, with ties as one half; NaN if a class has no summary. ``weights``, (n, k).
    """
    codes = dense(scores)
    consistent = by_class(weights * (labels == 1), codes)
    other = by_class(weights * (labels == 0), codes)
    above = (consistent * (np.cumsum(other, axis=1) - other / 2)).sum(axis=1)
    return ratio(above, consistent.sum(axis=1) * other.sum(axis=1))


def areas_within(labels: Codes, scores: Floats, weights: Floats, groups: Codes) -> Floats:
    """Area under the ROC curve over the pairs of summaries of one group, (n,); ``groups`` are numbers
    from 0, (k,).
    """
    sums, pairs = [], []
    for group in range(int(groups.max(initial=-1)) + 1):
        inside = groups == group
        of_group = weights[:, inside]
        counts = [(of_group * (labels[inside] == label)).sum(axis=1) for label in (0, 1)]
        pairs.append(counts[0] * counts[1])
        sums.append(np.nan_to_num(areas(labels[inside], scores[inside], of_group)) * pairs[-1])
    return ratio(np.sum(sums, axis=0), np.sum(pairs, axis=0))


def partial_correlations(
    weights: Floats, first: Floats, second: Floats, categories: Codes, method: str
) -> Floats:
    """Correlation of two columns of numbers, (k,), that controls for the category of each item: both
    are replaced by their differences from the weighted mean of the category. (n,), NaN if one is
    constant within every category.

    Args:
        weights: (n, k).
        categories: numbers from 0, (k,); all 0 for a plain correlation.
        method: ``"pearson"``; ``"spearman"``, of the residuals of the ranks; ``"authors"``, Spearman's
            of the residuals, as the authors of FRANK compute it.
    """
    columns = []
    for values in (first, second):
        ranked = _ranks(weights, values) if method == "spearman" else _scaled(values)
        residuals = _residuals(weights, ranked, categories)
        if method == "authors":
            residuals = _ranks(weights, residuals.round(12))
            residuals = _residuals(weights, residuals, np.zeros_like(categories))
        columns.append(residuals)
    x, y = columns
    products, x_squares, y_squares = (
        (weights * left * right).sum(axis=1) for left, right in ((x, y), (x, x), (y, y))
    )
    defined = (x_squares > _ROUNDING * len(first)) & (y_squares > _ROUNDING * len(first))
    correlations: Floats = np.clip(ratio(products, np.sqrt(x_squares * y_squares), defined), -1, 1)
    return correlations


def _scaled(values: Floats) -> Floats:
    """The values with a mean of 0 and a spread of about 1."""
    centered = values - values.mean() if len(values) else values
    scaled: Floats = centered / (np.abs(centered).max(initial=0.0) or 1.0)
    return scaled


def _ranks(weights: Floats, values: Floats) -> Floats:
    """The mid-ranks of values, (k,) or (n, k), in each sample, scaled to a spread of about 1; (n, k)."""
    codes = dense(values)
    ranks: Floats = mid_ranks(by_class(weights, codes), codes) / max(1, values.shape[-1])
    return ranks


def _residuals(weights: Floats, values: Floats, categories: Codes) -> Floats:
    """Values less the weighted mean of their category, (n, k)."""
    indicator = np.eye(int(categories.max(initial=0)) + 1)[categories]  # (k, g)
    counted = weights @ indicator
    means = ((weights * values) @ indicator) / np.where(counted > 0, counted, 1)
    residuals: Floats = values - means[:, categories]
    return residuals
