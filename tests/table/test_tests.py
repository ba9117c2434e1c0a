"""Paired tests of two systems, against enumeration, scipy and their own promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.table.tests import approximate_randomization, compare_paired, holm

#: The source and the scores of two systems for each example.
examples_of_sources = st.lists(
    st.tuples(st.sampled_from("uvwxyz"), st.integers(0, 5), st.integers(0, 5)),
    min_size=1,
    max_size=14,
)


@given(examples=examples_of_sources)
@settings(max_examples=60, deadline=None)
def test_all_swaps_of_few_sources_are_tried(examples: list[tuple[str, int, int]]) -> None:
    sources, first, second = zip(*examples, strict=True)
    p_value = approximate_randomization(first, second, groups=sources)
    names = sorted(set(sources))
    drawn = []
    for swapped in itertools.product((False, True), repeat=len(names)):
        is_swapped = dict(zip(names, swapped, strict=True))
        drawn.append(sum((b - a if is_swapped[source] else a - b) for source, a, b in examples))
    observed = abs(sum(first) - sum(second))
    assert p_value == pytest.approx(sum(abs(each) >= observed for each in drawn) / len(drawn))


@pytest.mark.parametrize("summaries", [1, 3])
def test_random_swaps_come_near_the_exact_value(
    summaries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    sources = np.repeat(np.arange(14), summaries)
    first, second = rng.normal(0.4, size=14)[sources], rng.normal(size=len(sources))
    exact = approximate_randomization(first, second, groups=sources)
    monkeypatch.setattr("estime_metric.table.tests._ENUMERATED", 0)
    drawn = approximate_randomization(first, second, groups=sources, n=20_000)
    assert 0 < abs(drawn - exact) < 4 * np.sqrt(exact / 20_000)
    monkeypatch.setattr("estime_metric.table.tests._TOGETHER", 14 * 2**6)  # parts of one stream
    assert approximate_randomization(first, second, groups=sources, n=20_000) == drawn


def test_examples_without_a_difference_need_no_swap() -> None:
    assert approximate_randomization([1, 1, 1, *[0] * 500], [0] * 503) == 0.25  # 2 of 8 swaps


def test_sums_that_cancel_are_no_difference() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point."""
    compared = compare_paired(
        [0.1, 0.2, -0.3, 1.0], [0.0] * 4, higher_is_better=True, groups=["x", "x", "x", "y"]
    )
    assert (compared.groups, compared.groups_differing, compared.examples) == (2, 1, 4)


def test_a_comparison_has_the_numbers_of_the_test() -> None:
    first, second = [1.0, 2, 3, 9, np.nan], [2.0, 2, 5, np.nan, 4]
    compared = compare_paired(first, second, higher_is_better=True, groups="xxyyy", n=200, seed=4)
    assert (compared.examples, compared.left_out, compared.groups) == (3, 2, 2)
    assert (compared.mean_first, compared.mean_second) == (2, 3)
    assert (compared.better_first, compared.ties, compared.better_second) == (0, 1, 2)
    p_value = approximate_randomization(first[:3], second[:3], groups="xxy", n=200, seed=4)
    assert (compared.difference, compared.p_value) == (-1, p_value)


def test_scores_within_the_tolerance_are_equal() -> None:
    first, second = [1.0, 2.0, 3.0, 4.0], [1.1, 1.9, 3.0, 1.0]
    compared = compare_paired(first, second, higher_is_better=True, tolerance=0.2, n=100)
    assert (compared.better_first, compared.ties, compared.better_second) == (1, 3, 0)
    assert compared.difference == 0.75
    assert (compared.mean_first, compared.mean_second) == (2.5, 1.75)  # of the scores as they are


def test_a_comparison_of_nothing() -> None:
    compared = compare_paired([np.nan, 1], [2, np.nan], higher_is_better=True)
    assert (compared.examples, compared.left_out) == (0, 2)
    assert np.isnan([compared.mean_first, compared.difference, compared.p_value]).all()


def test_holm_keeps_order_and_bounds() -> None:
    assert holm([]).tolist() == []
    assert holm([0.2, 0.9]).tolist() == pytest.approx([0.4, 0.9])
    p = np.random.default_rng(0).random(20)
    corrected = holm(p)
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()
    assert (corrected >= p).all()
    assert corrected.max() <= 1
    assert corrected.min() == pytest.approx(min(1, 20 * p.min()))
