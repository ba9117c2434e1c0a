"""Paired tests of two systems, against enumeration, scipy and their own promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.table.significance import (
    approximate_randomization,
    group_sums,
    holm,
    is_difference,
)

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


def test_random_swaps_of_sources_are_those_of_numpys_integers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of an odd number of sources with three summaries each, in one stream, whatever is drawn together."""
    rng = np.random.default_rng(3)
    sources, first = np.repeat(np.arange(51), 3), rng.normal(0.1, size=153)
    sums = first.reshape(51, 3).sum(axis=1)
    signs = 1 - 2 * np.random.default_rng(0).integers(2, size=(2_000, 51))
    as_large = (np.abs(signs @ sums) >= abs(sums.sum()) * (1 - 1e-12)).sum()
    for together in (4_000_000, 51 * 2**6):
        monkeypatch.setattr("estime_metric.table.significance._TOGETHER", together)
        p_value = approximate_randomization(first, np.zeros(153), groups=sources, n=2_000)
        assert p_value == (1 + as_large) / 2_001


def test_examples_without_a_difference_need_no_swap() -> None:
    assert approximate_randomization([1, 1, 1, *[0] * 500], [0] * 503) == 0.25  # 2 of 8 swaps


def test_sums_that_cancel_are_no_difference() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point."""
    sums = group_sums(np.array([0.1, 0.2, -0.3, 1.0]), np.array([0, 0, 0, 1]))
    assert sums.tolist() == [0, 1]


def test_a_difference_needs_its_interval_and_its_p_value() -> None:
    nan = float("nan")
    for low, high, p_value, expected in (
        (0.001, 0.029, 0.049, True),
        (-0.029, -0.001, 0.049, True),
        (0.001, 0.029, 0.05, False),
        (-0.001, 0.029, 0.001, False),
        (0.0, 0.029, 0.001, False),
        (nan, nan, 0.001, False),
        (0.001, 0.029, nan, False),
    ):
        assert is_difference(low, high, p_value) is expected


def test_holm_multiplies_the_smallest_most_and_keeps_the_order() -> None:
    assert holm([]).tolist() == []
    assert holm([0.2, 0.01, 0.012, 0.9]).tolist() == pytest.approx([0.4, 0.04, 0.04, 0.9])
