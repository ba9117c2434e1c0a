"""A threshold of one's own, and its accuracy on summaries that it was not chosen on, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from estime_metric.table import threshold
from estime_metric.table.threshold import calibrate


def by_hand(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Mean recall of the classes that occur."""
    return float(
        np.mean([(predicted[labels == label] == label).mean() for label in np.unique(labels)])
    )


@pytest.fixture
def sample() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    labels = (rng.random(80) < 0.7).astype(np.int64)
    return labels, np.round(rng.normal(size=80) + labels, 1)


def test_calibration_finds_the_best_threshold_in_either_direction(
    sample: tuple[np.ndarray, np.ndarray],
) -> None:
    labels, scores = sample
    calibration = calibrate(scores, labels, higher_is_better=True)
    accuracies = [by_hand(labels, (scores > limit).astype(int)) for limit in scores]
    flagged = scores <= calibration.threshold
    assert calibration.accuracy == pytest.approx(by_hand(labels, (~flagged).astype(int)))
    assert calibration.accuracy == pytest.approx(max(accuracies))
    assert calibration.flagged == pytest.approx(flagged.mean())
    assert calibration.found == pytest.approx(flagged[labels == 0].mean())
    assert calibration.spared == pytest.approx(1 - flagged[labels == 1].mean())
    turned = calibrate(-scores, labels)
    assert (turned.threshold, turned.out_of_bag) == (-calibration.threshold, calibration.out_of_bag)
    assert calibration.out_of_bag.mean < calibration.accuracy  # chosen elsewhere than tried


def test_calibration_draws_whole_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a loop does it that copies the summaries of drawn groups, and tries the threshold on all
    others.
    """
    rng = np.random.default_rng(5)
    groups = rng.integers(12, size=60)
    labels = (rng.random(60) < 0.6).astype(int)
    scores = np.round(rng.normal(size=60) - labels, 1)
    monkeypatch.setattr(threshold, "RESAMPLES", 40)
    calibration = calibrate(scores, labels, groups=groups.tolist())
    names = list(dict.fromkeys(groups.tolist()))
    thresholds = (np.unique(scores)[1:] + np.unique(scores)[:-1]) / 2
    outside = []
    for row in np.random.default_rng(threshold.SEED).integers(len(names), size=(40, len(names))):
        drawn = np.concatenate([np.flatnonzero(groups == names[place]) for place in row])
        others = np.flatnonzero(~np.isin(groups, [names[place] for place in row]))
        if len(set(labels[drawn])) < 2 or len(set(labels[others])) < 2:
            continue
        reached = [by_hand(labels[drawn], scores[drawn] < limit) for limit in thresholds]
        limit = thresholds[int(np.argmax(np.round(reached, 12)))]
        outside.append(by_hand(labels[others], scores[others] < limit))
    assert len(outside) > 30
    interval = calibration.out_of_bag
    assert (interval.mean, interval.count) == (pytest.approx(np.mean(outside)), len(outside))
    assert [interval.low, interval.high] == pytest.approx(
        list(np.quantile(outside, [0.025, 0.975]))
    )


@pytest.mark.parametrize("higher_is_better", [False, True])
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0.01455, 0.0146),
        (0.99996, 0.99999),
        (1e-9, 2e-7),
        (1e8, 1e8 + 1),
        (1.0, math.nextafter(1.0, 2)),
        (9e307, 1e308),
    ],
)
def test_a_threshold_that_is_copied_flags_the_same_rows(
    low: float, high: float, higher_is_better: bool
) -> None:
    scores = np.array([low, high] * 10)
    labels = (scores == high) == higher_is_better
    printed = str(calibrate(scores, labels, higher_is_better=higher_is_better).threshold)
    flagged = scores <= float(printed) if higher_is_better else scores >= float(printed)
    assert flagged.tolist() == (~labels).tolist()
