"""Scores and labels -> thresholds, balanced accuracy, area under the ROC curve, also of resamples.

Higher scores are more consistent. Axes: n weightings, k summaries; a weight is the number of times
that a resample contains a summary.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.stats.checks import Floats, alike
from estime_metric.stats.groups import group_codes
from estime_metric.stats.intervals import interval_of
from estime_metric.stats.ranks import Codes, by_class, dense, ratio
from estime_metric.stats.resampling import draw_items_in_blocks

Labels = npt.NDArray[np.int64]

#: Percentiles of the scores that `choose_threshold` tries as thresholds.
PERCENTILES = np.arange(0, 100, 0.2)

_TOGETHER = 1_000_000  # numbers of resamples in memory at the same time: 8 MB of float64


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
        of_class = weights * (labels == label)
        recalls.append(ratio((of_class * (predicted == label)).sum(axis=1), of_class.sum(axis=1)))
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


@dataclass(frozen=True, eq=False)
class Calibration:
    """A threshold for scores like those that were judged.

    Attributes:
        threshold: a summary is flagged from this score on (down to it, if higher is better): midway
            between two scores.
        accuracy: balanced accuracy on the summaries that it was chosen on, which flatters it.
        expected, low, high: the same, mean and 95% interval, on those that a bootstrap did not
            choose its threshold on; NaN if there are too few.
        area: area under the ROC curve.
        curve: for each ``threshold`` the ``accuracy``, and the shares of the inconsistent summaries
            that are flagged (``found``), of the consistent ones that are not (``spared``) and of
            all that are (``flagged``).
    """

    threshold: float
    accuracy: float
    expected: float
    low: float
    high: float
    area: float
    curve: pd.DataFrame


def calibrate(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    groups: Iterable[Hashable] | None = None,
    higher_is_better: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Finds the threshold with the best balanced accuracy, of several the middle one.

    ``scores`` are of shape (k,), not all equal; ``labels``, (k,), are 1 for a consistent summary,
    otherwise 0, and contain both (otherwise ValueError). ``groups`` are the groups of the summaries,
    such as their sources, of shape (k,): the bootstrap draws whole groups, because the summaries of
    one source are not independent; if omitted, each summary is a separate group.
    ``higher_is_better`` is the direction of the scores; ``resamples`` and ``seed`` are of the
    interval. If no resample leaves out summaries of both classes, the estimate and its interval are
    NaN.

    Example:
        >>> calibration = calibrate([0.1, 0.2, 0.6, 0.3, 0.7, 0.9], [1, 1, 1, 0, 0, 0])
        >>> calibration.threshold, round(calibration.accuracy, 3)
        (0.25, 0.833)
    """
    values, judged = alike(1, scores=scores, labels=labels)
    for label in (0, 1):
        if not (judged == label).any():
            raise ValueError(
                f"Expected argument `labels` to contain both 0 and 1, but got no {label}."
            )
    if len(wrong := judged[(judged != 0) & (judged != 1)]):
        raise ValueError(f"Expected argument `labels` to contain 0 and 1, but got {wrong[0]:g}.")
    kinds = np.unique(values)
    if len(kinds) < 2:
        raise ValueError(
            f"Expected argument `scores` to contain different numbers, but all are {values[0]:g}."
        )
    codes = group_codes(groups, len(values))
    of_sample = _rates(np.ones((1, len(values))), values, judged, higher_is_better)
    accuracies = of_sample.accuracy[0]
    best = np.flatnonzero(accuracies == accuracies.max())
    place = int(best[(len(best) - 1) // 2])
    block = max(1, _TOGETHER // len(values))
    outside = np.concatenate(
        [
            _accuracies_outside(
                chosen_on=_rates(drawn[:, codes], values, judged, higher_is_better).accuracy,
                tried_on=_rates(
                    (drawn[:, codes] == 0).astype(np.float64), values, judged, higher_is_better
                ).accuracy,
            )
            for drawn in draw_items_in_blocks(int(codes.max()) + 1, resamples, seed, block)
        ]
    )
    ends = (kinds[1:] + kinds[:-1]) / 2
    thresholds = ends[::-1] if higher_is_better else ends
    around = interval_of(outside)
    return Calibration(
        threshold=float(thresholds[place]),
        accuracy=float(accuracies[place]),
        expected=around.mean,
        low=around.low,
        high=around.high,
        area=float(areas(judged.astype(np.int64), values if higher_is_better else -values)[0]),
        curve=pd.DataFrame(
            {
                "threshold": thresholds,
                "accuracy": accuracies,
                "found": of_sample.found[0],
                "spared": of_sample.spared[0],
                "flagged": of_sample.flagged[0],
            }
        ),
    )


@dataclass(frozen=True, eq=False)
class _Rates:
    """What each threshold reaches in each of n samples, float64 of shape (n, thresholds); NaN if a
    class has no summary. See `Calibration.curve`.
    """

    found: Floats
    spared: Floats
    flagged: Floats

    @property
    def accuracy(self) -> Floats:
        """Balanced accuracy."""
        return (self.spared + self.found) / 2


def _rates(weights: Floats, values: Floats, judged: Floats, higher_is_better: bool) -> _Rates:
    """The rates of all thresholds between two scores, from the one that flags most summaries."""
    codes = dense(-values if higher_is_better else values)
    return _Rates(
        found=_share_above(weights * (judged == 0), codes),
        spared=_share_below(weights * (judged == 1), codes),
        flagged=_share_above(weights, codes),
    )


def _share_below(weights: Floats, codes: Codes) -> Floats:
    """The share of the weight in the classes below each threshold, (n, classes - 1)."""
    of_class = by_class(weights, codes)
    below: Floats = np.cumsum(of_class, axis=1)[:, :-1]
    return ratio(below, of_class.sum(axis=1, keepdims=True))


def _share_above(weights: Floats, codes: Codes) -> Floats:
    """The share of the weight in the classes above each threshold, (n, classes - 1)."""
    of_class = by_class(weights, codes)
    total = of_class.sum(axis=1, keepdims=True)
    return ratio(total - np.cumsum(of_class, axis=1)[:, :-1], total)


def _accuracies_outside(chosen_on: Floats, tried_on: Floats) -> Floats:
    """For each sample, the accuracy of the threshold that is best on the sample, on the summaries
    outside of it. Samples that lack a class on one side are excluded.
    """
    usable = np.flatnonzero(np.isfinite(chosen_on[:, 0]) & np.isfinite(tried_on[:, 0]))
    best = np.argmax(chosen_on[usable], axis=1)
    accuracies: Floats = tried_on[usable, best]
    return accuracies
