"""Weighted counts against the same counts of copied items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.meta.concordance import METHODS, Tally, dense, mean_over_groups, tally

COUNTS = ("pairs", "balance", "ordered_scores", "ordered_judgements", "ordered_both", "items", "classes", "concordant")

items = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=10)


def one(x: np.ndarray, y: np.ndarray) -> Tally:
    return tally(np.ones((1, len(x))), x, y)


@given(items=items)
@settings(max_examples=100, deadline=None)
def test_a_weight_is_a_number_of_copies(items: list[tuple[int, int, int]]) -> None:
    weights, x, y = (np.array(column, dtype=float) for column in zip(*items, strict=True))
    copies = [np.repeat(side, weights.astype(int)) for side in (x, y)]
    weighted, copied = tally(weights[None], x, y), one(*copies)
    by_row = tally(weights[None], x[None], y[None])  # values that differ by weighting go another way
    for name in COUNTS:
        expected = getattr(copied, name)[0]
        assert getattr(weighted, name)[0] == expected, name
        assert getattr(by_row, name)[0] == expected, name
    for method, value in METHODS.items():
        np.testing.assert_allclose(value(weighted), value(copied), rtol=0, atol=1e-12, err_msg=method)
        np.testing.assert_allclose(value(by_row), value(copied), rtol=0, atol=1e-12, err_msg=method)


def test_weightings_do_not_mix() -> None:
    rng = np.random.default_rng(0)
    weights, x, y = rng.integers(0, 4, size=(5, 12)).astype(float), rng.integers(0, 6, 12), rng.integers(0, 6, 12)
    together = tally(weights, x.astype(float), y.astype(float))
    for row in range(5):
        alone = tally(weights[[row]], x.astype(float), y.astype(float))
        for name in COUNTS:
            assert getattr(together, name)[row] == getattr(alone, name)[0]


def test_classes_in_rising_order() -> None:
    assert dense(np.array([3.0, -1.0, 3.0, 0.5])).tolist() == [2, 0, 2, 1]
    assert dense(np.array([[2.0, 1.0], [1.0, 1.0]])).tolist() == [[1, 0], [0, 0]]
    assert dense(np.zeros((2, 0))).shape == (2, 0)


def test_neighbours_within_the_tolerance_share_a_class_and_the_next_begins_beyond_it() -> None:
    values = np.array([0.0, 1e-10, 2e-9, 1.0])
    assert dense(values, 1e-9).tolist() == [0, 0, 1, 2]


def test_counts_beyond_what_float32_holds_are_exact() -> None:
    weights = np.array([[20_000_003.0, 1.0, 5.0]])
    found = tally(weights, np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]))
    assert found.balance[0] == 20_000_003 * 6 + 5


def test_the_mean_leaves_out_groups_without_a_value_and_accuracy_pools_pairs() -> None:
    groups = [
        one(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])),
        one(np.array([1.0, 2.0]), np.array([4.0, 4.0])),
        one(np.array([1.0, 2.0]), np.array([2.0, 1.0])),
    ]
    weights = np.array([[1.0, 1.0, 1.0], [3.0, 1.0, 1.0], [0.0, 1.0, 0.0]])
    assert mean_over_groups(groups, weights, "kendall_b") == pytest.approx([0, 0.5, np.nan], nan_ok=True)
    assert mean_over_groups(groups, weights, "accuracy") == pytest.approx([3 / 4, 9 / 10, np.nan], nan_ok=True)
