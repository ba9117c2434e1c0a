"""Thresholds, balanced accuracies and areas, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.benchmarks.accuracy import (
    areas,
    balanced_accuracies,
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
