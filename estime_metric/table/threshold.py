"""Scores and labels -> a threshold, and how accurate it may be on new summaries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from estime_metric.table.arrays import Codes, Floats, alike, group_codes
from estime_metric.table.intervals import Interval, interval_of

RESAMPLES = 1000
SEED = 0

_DIGITS, _ALL_DIGITS = 4, 17  # of a threshold; every float64 has its own number of 17 digits


@dataclass(frozen=True)
class Calibration:
    """A threshold for scores, and its accuracy.

    Attributes:
        threshold: about midway between two scores, with four digits or as many as tell it from both. A
            summary is flagged if its score is the threshold or worse.
        accuracy: balanced accuracy on the summaries that the threshold was chosen on, which is
            optimistic.
        found, spared, flagged: fractions of the inconsistent summaries that are flagged, of the
            consistent summaries that are not, and of all summaries that are.
        out_of_bag: estimate of the balanced accuracy on new summaries, with its 95% interval: each
            resample of a bootstrap chooses a threshold, which is evaluated on the summaries that were
            not drawn. NaN if there are too few summaries.
    """

    threshold: float
    accuracy: float
    found: float
    spared: float
    flagged: float
    out_of_bag: Interval


def calibrate(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    groups: Iterable[Hashable] | None = None,
    higher_is_better: bool = False,
) -> Calibration:
    """Finds the threshold with the best balanced accuracy; if several are best, the middle one.

    If no resample leaves out summaries of both classes, there is no estimate for new summaries.

    Args:
        scores: of shape (k,), not all equal.
        labels: 1 for a consistent summary and 0 for any other, of shape (k,); both must occur.
        groups: the group of each summary, such as its source, of shape (k,). The bootstrap draws whole
            groups, because the summaries of one source are not independent. If omitted, each summary
            is a separate group.
        higher_is_better: the direction of the scores.

    Raises:
        TypeError: the scores or labels are not numbers, or a group is not hashable.
        ValueError: the shapes differ, or the scores or labels are not as described.

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
    kinds, codes = np.unique(values, return_inverse=True)
    if len(kinds) < 2:
        raise ValueError(
            f"Expected argument `scores` to contain different numbers, but all are {values[0]:g}."
        )
    if higher_is_better:
        kinds, codes = kinds[::-1], len(kinds) - 1 - codes
    rates = _rates(np.ones(len(values)), codes, judged)
    best = np.flatnonzero(rates["accuracy"] == rates["accuracy"].max())
    chosen = best[(len(best) - 1) // 2]
    groups_of_summaries = group_codes(groups, len(values))
    number = int(groups_of_summaries.max()) + 1
    rng = np.random.default_rng(SEED)
    outside = []
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(number, size=number), minlength=number)
        weights = times[groups_of_summaries].astype(np.float64)
        drawn = _rates(weights, codes, judged)["accuracy"]
        others = _rates((weights == 0).astype(np.float64), codes, judged)["accuracy"]
        if np.isfinite(drawn).all() and np.isfinite(others).all():
            outside.append(others[np.argmax(drawn)])
    return Calibration(
        threshold=_between(*kinds[chosen : chosen + 2].tolist()),
        out_of_bag=interval_of(np.array(outside, dtype=np.float64)),
        **{name: float(values_of[chosen]) for name, values_of in rates.items()},
    )


def _between(better: float, worse: float) -> float:
    """A number between two scores that reads back as itself when it is printed; ``worse`` if there is
    none.
    """
    middle = better / 2 + worse / 2
    for digits in range(_DIGITS, _ALL_DIGITS + 1):
        number = float(f"{middle:.{digits}g}")
        if min(better, worse) < number < max(better, worse):
            return number
    return worse


def _rates(weights: Floats, codes: Codes, judged: Floats) -> dict[str, Floats]:
    """What each threshold between two scores reaches, (classes - 1,), from the one that flags most
    summaries, by attribute of `Calibration`; NaN if a class has no weight.
    """
    consistent: Floats = np.bincount(codes, weights * judged).astype(np.float64)
    every: Floats = np.bincount(codes, weights).astype(np.float64)
    with np.errstate(invalid="ignore"):
        spared = consistent.cumsum()[:-1] / consistent.sum()
        found, flagged = (
            (kind.sum() - kind.cumsum()[:-1]) / kind.sum() for kind in (every - consistent, every)
        )
    return {
        "accuracy": (found + spared) / 2,
        "found": found,
        "spared": spared,
        "flagged": flagged,
    }
