"""Paired tests of two systems, against enumeration, scipy and their own promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.studies.meta import (
    approximate_randomization,
    compare_paired,
    holm,
    paired_bootstrap,
)

scores = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8)


@given(pairs=scores)
@settings(max_examples=50, deadline=None)
def test_few_examples_are_enumerated(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    found = approximate_randomization(first, second)
    differences = [a - b for a, b in pairs]
    swaps = [
        sum(sign * each for sign, each in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(pairs))
    ]
    assert found.exact
    assert found.p_value == pytest.approx(
        sum(abs(s) >= abs(sum(differences)) for s in swaps) / len(swaps)
    )
    assert found.difference == pytest.approx(sum(differences) / len(differences))


def test_random_swaps_come_near_the_exact_value(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.4, size=14), rng.normal(size=14)
    exact = approximate_randomization(first, second)
    monkeypatch.setattr("estime_metric.stats.paired._ENUMERATED", 0)
    drawn = approximate_randomization(first, second, n=20_000)
    assert (exact.exact, drawn.exact, drawn.trials) == (True, False, 20_000)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * np.sqrt(exact.p_value / 20_000))


def test_examples_without_a_difference_need_no_swap() -> None:
    found = approximate_randomization([1, 1, 1, *[0] * 500], [0] * 503)
    assert (found.exact, found.trials, found.p_value) == (True, 8, 0.25)


def test_the_bootstrap_is_what_copied_examples_give() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.normal(0.3, size=30), rng.normal(size=30)
    found = paired_bootstrap(first, second, n=500, seed=3)
    rows = np.random.default_rng(3).integers(30, size=(500, 30))
    drawn = [first[row].mean() - second[row].mean() for row in rows]
    assert [found.low, found.high] == pytest.approx(list(np.quantile(drawn, [0.025, 0.975])))
    smaller = min(sum(each <= 0 for each in drawn), sum(each >= 0 for each in drawn))
    assert found.p_value == pytest.approx(2 * (1 + smaller) / 501)
    single = paired_bootstrap([3], [1], n=99)
    assert (single.difference, single.trials) == (2, 0)
    assert np.isnan([single.low, single.high, single.p_value]).all()  # nothing can be resampled


def test_chunks_are_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = np.arange(40.0), np.arange(40.0)[::-1] + 3
    whole = [test(first, second, n=300) for test in (paired_bootstrap, approximate_randomization)]
    monkeypatch.setattr("estime_metric.stats.paired._TOGETHER", 40 * 2**6)
    parts = [test(first, second, n=300) for test in (paired_bootstrap, approximate_randomization)]
    assert parts == whole


def test_a_comparison_has_the_numbers_of_both_tests() -> None:
    first, second = [1.0, 2, 3, 9, np.nan], [2.0, 2, 5, np.nan, 4]
    found = compare_paired(first, second, higher_is_better=True, n=200, confidence=0.9, seed=4)
    assert (found.examples, found.left_out) == (3, 2)
    assert (found.mean_first, found.mean_second) == (2, 3)
    assert (found.better_first, found.ties, found.better_second) == (0, 1, 2)
    assert found.bootstrap == paired_bootstrap(first[:3], second[:3], n=200, confidence=0.9, seed=4)
    assert found.randomization == approximate_randomization(first[:3], second[:3], n=200, seed=4)


def test_scores_within_the_tolerance_are_equal() -> None:
    first, second = [1.0, 2.0, 3.0, 4.0], [1.1, 1.9, 3.0, 1.0]
    found = compare_paired(first, second, higher_is_better=True, tolerance=0.2, n=100)
    equal = compare_paired(first, [1, 2, 3, 1], higher_is_better=True, n=100)
    assert (found.better_first, found.ties, found.better_second) == (1, 3, 0)
    assert (found.bootstrap, found.randomization) == (equal.bootstrap, equal.randomization)
    assert (found.mean_first, found.mean_second) == (2.5, 1.75)  # of the scores as they are


@pytest.mark.parametrize(("higher", "better"), [(True, "first"), (False, "second")])
def test_the_better_one_depends_on_the_direction(higher: bool, better: str) -> None:
    values = np.arange(12.0)
    assert compare_paired(values + 1, values, higher_is_better=higher).better == better
    assert compare_paired(values, values + 1, higher_is_better=not higher).better == better
    assert compare_paired(values, values, higher_is_better=higher).better is None


def test_a_comparison_of_nothing() -> None:
    found = compare_paired([np.nan, 1], [2, np.nan], higher_is_better=True)
    assert (found.examples, found.left_out, found.better) == (0, 2, None)
    assert np.isnan([found.mean_first, found.bootstrap.low, found.randomization.p_value]).all()


def test_holm_keeps_order_and_bounds() -> None:
    assert holm([]).tolist() == []
    assert holm([0.2, 0.9]).tolist() == pytest.approx([0.4, 0.9])
    p = np.random.default_rng(0).random(20)
    corrected = holm(p)
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()
    assert (corrected >= p).all()
    assert corrected.max() <= 1
    assert corrected.min() == pytest.approx(min(1, 20 * p.min()))
