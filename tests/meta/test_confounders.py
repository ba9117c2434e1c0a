"""Pseudo-measures: what they hold, and that the noise breaks ties and turns nothing round."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from estime_metric.meta import break_ties, capitalisation, from_property, mean_over_noise, system_upper_bound


def test_a_property_is_repeated_for_each_document() -> None:
    made = from_property([0, 1, 1], documents=4)
    assert made.dtype == np.float64
    np.testing.assert_array_equal(made, [[0, 1, 1]] * 4)
    assert from_property([0, 1], documents=0).shape == (0, 2)
    assert from_property([], documents=3).shape == (3, 0)


def test_capitals_are_counted_in_any_script() -> None:
    assert capitalisation([["abc", "ABc"], ["Éa Ж", ""]]).tolist() == [[0, 2], [2, 0]]
    assert capitalisation([]).shape == (0, 0)
    with pytest.raises(ValueError, match="rows of 2 texts, but got 1 in row 1"):
        capitalisation([["a", "b"], ["c"]])


def test_the_upper_bound_ranks_systems_perfectly_and_summaries_not_at_all() -> None:
    judgements = np.random.default_rng(0).integers(1, 6, size=(30, 7)) / 3
    bound = system_upper_bound(judgements)
    np.testing.assert_allclose(bound, np.broadcast_to(judgements.mean(axis=0), bound.shape), atol=1e-9)
    assert stats.kendalltau(bound.mean(axis=0).round(9), judgements.mean(axis=0).round(9)).statistic == pytest.approx(1)
    assert (bound == bound[0]).all()
    assert system_upper_bound(np.empty((0, 3))).shape == (0, 3)


def test_noise_breaks_every_tie_and_turns_nothing_round() -> None:
    scores = np.random.default_rng(1).integers(0, 4, size=(20, 5)).astype(float)
    noisy = break_ties(scores, seed=3)
    assert len(np.unique(noisy)) == scores.size
    order = np.argsort(noisy, axis=None)
    assert (np.diff(scores.ravel()[order]) >= 0).all()
    assert len(np.unique(noisy.mean(axis=0).round(9))) == 5
    np.testing.assert_array_equal(noisy, break_ties(scores, seed=3))
    assert (noisy != break_ties(scores, seed=4)).any()
    constant = break_ties(np.zeros((3, 2)))
    assert len(np.unique(constant)) == 6
    assert break_ties(np.empty((0, 2))).shape == (0, 2)


def test_the_mean_over_noise_is_that_of_its_runs() -> None:
    judgements = np.random.default_rng(2).normal(size=(10, 4))
    flat = from_property([0, 1, 0, 1], documents=10)

    def tau(scores: np.ndarray) -> float:
        return float(stats.kendalltau(scores, judgements).statistic)

    values = [tau(break_ties(flat, seed)) for seed in range(7, 12)]
    assert mean_over_noise(tau, flat, runs=5, seed=7) == pytest.approx(np.mean(values))
    assert len(set(values)) > 1
