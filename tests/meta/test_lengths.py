"""Statistics of lengths against numpy and loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from estime_metric import meta


def test_lengths_in_each_unit() -> None:
    texts = [["One two. Three.", ""], ["é é", "A . B ? C !"]]
    assert meta.count_lengths(texts).tolist() == [[15, 0], [3, 11]]
    assert meta.count_lengths(texts, "words").tolist() == [[3, 0], [2, 6]]
    assert meta.count_lengths(texts, "sentences").tolist() == [[2, 0], [1, 3]]
    assert meta.count_lengths([]).shape == (0, 0)


def test_statistics_of_systems() -> None:
    lengths = np.random.default_rng(0).integers(20, 400, size=(31, 4))
    found = meta.lengths_by_system(lengths, list("abcd"))
    assert list(found.index) == list("abcd")
    for row, column in zip(found.itertuples(), lengths.T, strict=True):
        assert row.mean == pytest.approx(sum(column) / 31)
        assert row.std == pytest.approx(math.sqrt(sum((column - row.mean) ** 2) / 30))
        assert (row.min, row.median, row.max) == (min(column), sorted(column)[15], max(column))
    assert meta.lengths_by_system([[3.0]], ["a"]).isna().to_numpy().tolist() == [[False, True, False, False, False]]
    assert meta.lengths_by_system(np.empty((0, 1)), ["a"]).isna().all(axis=None)
    assert meta.lengths_by_system(np.empty((3, 0)), []).shape == (0, 5)


def test_correlation_with_length_is_that_of_every_level() -> None:
    rng = np.random.default_rng(4)
    lengths = rng.integers(20, 90, size=(12, 5))
    scores = lengths + rng.integers(0, 60, size=lengths.shape)
    expected = {level: meta.correlate(scores, lengths, level=level, method="kendall_b") for level in meta.LEVELS}
    assert meta.correlation_with_length(scores, lengths) == expected
    assert all(math.isnan(value) for value in meta.correlation_with_length(np.ones((3, 2)), np.ones((3, 2))).values())


def test_agreement_agrees_with_loops() -> None:
    rng = np.random.default_rng(1)
    shape = (6, 4)
    scores, judgements = rng.integers(0, 4, size=shape), rng.integers(1, 4, size=shape)
    lengths = rng.integers(10, 400, size=shape)
    buckets: dict[float, list[float]] = {}
    for one, other in itertools.permutations(np.ndindex(shape), 2):
        if judgements[one] > judgements[other]:
            edge = max(min(math.floor((lengths[one] - lengths[other]) / 20) * 20, 200), -200)
            buckets.setdefault(edge, []).append((scores[one] > scores[other]) + 0.5 * (scores[one] == scores[other]))
    curve = meta.agreement_by_length_difference(scores, judgements, lengths)
    assert curve.lengths.tolist() == sorted(buckets)
    assert curve.counts.tolist() == [len(buckets[edge]) for edge in sorted(buckets)]
    np.testing.assert_allclose(curve.means, [np.mean(buckets[edge]) for edge in sorted(buckets)])
    some = meta.agreement_by_length_difference(scores, judgements, lengths, pairs=50)
    assert some.counts.sum() == 50
    assert meta.agreement_by_length_difference([[1, 1]], [[2, 2]], [[3, 4]]).counts.tolist() == []
