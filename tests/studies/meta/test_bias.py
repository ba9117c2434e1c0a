"""Bias matrices against naive loops; pseudo-measures: their values, and that noise breaks ties
alone.
"""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from estime_metric.studies.meta import (
    break_ties,
    system_upper_bound,
)
from estime_metric.studies.meta.bias import bias_matrix, rank_systems


def naive(
    scores: np.ndarray, judgements: np.ndarray, all_documents: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The matrix and its counts, pair by pair, from the definition in the paper's section 6.1."""
    documents, systems = scores.shape
    order = sorted(range(systems), key=lambda s: -round(sum(judgements[:, s]) / documents, 9))
    matrix, counts = np.zeros((systems, systems)), np.zeros((systems, systems), dtype=int)
    for i, j in itertools.permutations(range(systems), 2):
        # Above the diagonal `mine` is the better system, below it the worse.
        mine, other = order[i], order[j]
        pairs = itertools.product(range(documents), repeat=2)
        right = [
            scores[k, mine] > scores[m, other]
            for k, m in pairs
            if (all_documents or k == m) and judgements[k, mine] > judgements[m, other]
        ]
        counts[i, j] = len(right)
        matrix[i, j] = 2 * np.mean(right) - 1 if right else np.nan
    return matrix, counts


tables = arrays.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6).flatmap(
    lambda shape: st.tuples(
        arrays.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0])),
        arrays.arrays(np.float64, shape, elements=st.sampled_from([1.0, 4 / 3, 5 / 3, 3.0, 5.0])),
    )
)


@settings(max_examples=50, deadline=None)
@given(tables, st.booleans())
def test_agrees_with_loops_over_pairs(
    values: tuple[np.ndarray, np.ndarray], all_documents: bool
) -> None:
    scores, judgements = values
    names = [f"s{number}" for number in range(scores.shape[1])]
    computed = bias_matrix(
        scores, judgements, names, "all_documents" if all_documents else "same_document"
    )
    matrix, counts = naive(scores, judgements, all_documents)
    np.testing.assert_array_equal(computed.counts, counts)
    np.testing.assert_allclose(computed.matrix, matrix, rtol=0, atol=1e-12)
    assert computed.systems == tuple(names[index] for index in rank_systems(judgements))


def test_means_that_differ_by_rounding_are_equal() -> None:
    a = np.array([0.1] * 3 + [0.3] * 3)
    judgements = np.stack([np.full(6, 0.2), a, np.roll(a, 1), np.full(6, 0.1)], axis=1)
    judgements[:, 1] += 1e-13
    assert rank_systems(judgements) == [0, 1, 2, 3]


def test_empty_tables() -> None:
    nothing = bias_matrix(np.empty((0, 3)), np.empty((0, 3)), list("abc"))
    assert nothing.systems == ("a", "b", "c")
    assert np.isnan(nothing.matrix[~np.eye(3, dtype=bool)]).all()
    assert bias_matrix(np.empty((4, 0)), np.empty((4, 0)), []).matrix.shape == (0, 0)


def test_the_upper_bound_ranks_systems_perfectly_and_summaries_not_at_all() -> None:
    judgements = np.random.default_rng(0).integers(1, 6, size=(30, 7)) / 3
    bound = system_upper_bound(judgements)
    np.testing.assert_allclose(bound[0], judgements.mean(axis=0), atol=1e-9)
    assert (bound == bound[0]).all()
    assert system_upper_bound(np.empty((0, 3))).shape == (0, 3)


def test_noise_breaks_every_tie_and_turns_nothing_round() -> None:
    scores = np.random.default_rng(1).integers(0, 4, size=(20, 5)).astype(float)
    noisy = break_ties(scores, seed=3)
    assert len(np.unique(noisy)) == scores.size
    order = np.argsort(noisy, axis=None)
    assert (np.diff(scores.ravel()[order]) >= 0).all()
    np.testing.assert_array_equal(noisy, break_ties(scores, seed=3))
    assert (noisy != break_ties(scores, seed=4)).any()
    assert break_ties(np.empty((0, 2))).shape == (0, 2)
