"""Thresholds and balanced accuracies against plain loops; choosing a threshold of one's own."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from estime_metric.stats.detection import (
    areas,
    balanced_accuracies,
    calibrate,
    choose_threshold,
)


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


def test_the_threshold_is_the_one_of_the_authors_loop(
    sample: tuple[np.ndarray, np.ndarray],
) -> None:
    labels, scores = sample
    best, threshold = 0.0, 0.0
    for percent in np.arange(0, 100, 0.2):  # as they describe it: the last of the best
        tried = np.percentile(scores, percent)
        reached = by_hand(labels, (scores > tried).astype(int))
        if reached >= best:
            best, threshold = reached, tried
    assert choose_threshold(labels, scores) == pytest.approx(threshold)
    assert balanced_accuracies(labels, scores > threshold)[0] == pytest.approx(best)


def test_a_class_that_does_not_occur_is_left_out() -> None:
    assert balanced_accuracies(np.array([1, 1, 1, 1]), np.array([1, 0, 0, 0]) > 0).tolist() == [
        0.25
    ]
    assert np.isnan(areas(np.array([1, 1]), np.array([0.0, 1.0]))).all()


def test_weights_are_repeated_summaries(sample: tuple[np.ndarray, np.ndarray]) -> None:
    labels, scores = sample
    weights = np.random.default_rng(2).integers(0, 3, (4, 80))
    accuracies = balanced_accuracies(labels, scores > 0.5, weights.astype(float))
    weighted_areas = areas(labels, scores, weights.astype(float))
    for row, accuracy, area in zip(weights, accuracies, weighted_areas, strict=True):
        drawn, values = np.repeat(labels, row), np.repeat(scores, row)
        assert accuracy == pytest.approx(by_hand(drawn, (values > 0.5).astype(int)))
        above = values[drawn == 1][:, None] - values[drawn == 0][None, :]
        assert area == pytest.approx((above > 0).mean() + (above == 0).mean() / 2)


def test_calibration_finds_the_best_threshold_in_either_direction(
    sample: tuple[np.ndarray, np.ndarray],
) -> None:
    labels, scores = sample
    calibration = calibrate(scores, labels, higher_is_better=True)
    assert calibration.accuracy == pytest.approx(
        by_hand(labels, (scores > calibration.threshold).astype(int))
    )
    for row in calibration.curve.to_dict("records"):
        flagged = scores <= row["threshold"]
        assert row["flagged"] == pytest.approx(flagged.mean())
        assert row["found"] == pytest.approx(flagged[labels == 0].mean())
        assert row["spared"] == pytest.approx(1 - flagged[labels == 1].mean())
        assert row["accuracy"] <= calibration.accuracy
    turned = calibrate(-scores, labels)
    assert (turned.threshold, turned.area) == (-calibration.threshold, calibration.area)
    assert calibration.low < calibration.expected < calibration.high
    assert calibration.expected < calibration.accuracy  # chosen elsewhere than tried
    noise = [
        calibrate(np.random.default_rng(seed).normal(size=80), labels, resamples=50)
        for seed in range(30)
    ]
    assert (
        abs(np.mean([calibration.expected for calibration in noise]) - 0.5)
        < 0.04
        < np.mean([calibration.accuracy for calibration in noise]) - 0.5
    )


def test_calibration_draws_whole_groups() -> None:
    """As a loop does it that copies the summaries of drawn groups, and tries the threshold on all
    others.
    """
    rng = np.random.default_rng(5)
    groups = rng.integers(12, size=60)
    labels = (rng.random(60) < 0.6).astype(int)
    scores = np.round(rng.normal(size=60) - labels, 1)
    calibration = calibrate(scores, labels, groups=groups.tolist(), resamples=40, seed=2)
    names = list(dict.fromkeys(groups.tolist()))
    thresholds = (np.unique(scores)[1:] + np.unique(scores)[:-1]) / 2
    outside = []
    for row in np.random.default_rng(2).integers(len(names), size=(40, len(names))):
        drawn = np.concatenate([np.flatnonzero(groups == names[place]) for place in row])
        others = np.flatnonzero(~np.isin(groups, [names[place] for place in row]))
        if len(set(labels[drawn])) < 2 or len(set(labels[others])) < 2:
            continue
        reached = [by_hand(labels[drawn], scores[drawn] < limit) for limit in thresholds]
        limit = thresholds[int(np.argmax(np.round(reached, 12)))]
        outside.append(by_hand(labels[others], scores[others] < limit))
    assert len(outside) > 30
    assert calibration.expected == pytest.approx(np.mean(outside))
    assert [calibration.low, calibration.high] == pytest.approx(
        list(np.quantile(outside, [0.025, 0.975]))
    )


def test_groups_of_one_summary_change_nothing(sample: tuple[np.ndarray, np.ndarray]) -> None:
    labels, scores = sample
    alone = calibrate(scores, labels, resamples=50)
    grouped = calibrate(scores, labels, groups=[f"s{n}" for n in range(79, -1, -1)], resamples=50)
    assert (alone.expected, alone.low, alone.high) == (grouped.expected, grouped.low, grouped.high)
    single = calibrate(scores, labels, groups=["s"] * 80, resamples=50)
    assert np.isnan([single.expected, single.low, single.high]).all()  # no group is ever left out
    assert (single.threshold, single.accuracy) == (alone.threshold, alone.accuracy)


def test_blocks_of_resamples_are_one_stream(
    sample: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    labels, scores = sample
    whole = calibrate(scores, labels, higher_is_better=True, resamples=101)
    monkeypatch.setattr("estime_metric.stats.detection._TOGETHER", 7 * len(labels))
    parts = calibrate(scores, labels, higher_is_better=True, resamples=101)
    assert (parts.expected, parts.low, parts.high) == (whole.expected, whole.low, whole.high)


def test_memory_does_not_grow_with_the_resamples() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(5000) < 0.7).astype(np.int64)
    scores = rng.normal(size=5000) - labels
    peaks = []
    for resamples in (400, 1200):
        tracemalloc.start()
        calibrate(scores, labels, resamples=resamples)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
