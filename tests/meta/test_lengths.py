"""Statistics of lengths against numpy and loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from estime_metric.meta.lengths import (
    agreement_by_length_difference,
    correlation_with_length,
    count_lengths,
    lengths_by_system,
    score_by_length,
)


def test_lengths_in_each_unit() -> None:
    texts = [["One two. Three.", ""], ["é é", "A . B ? C !"]]
    assert count_lengths(texts).tolist() == [[15, 0], [3, 11]]
    assert count_lengths(texts, "words").tolist() == [[3, 0], [2, 6]]
    assert count_lengths(texts, "sentences").tolist() == [[2, 0], [1, 3]]
    assert count_lengths([]).shape == (0, 0)


def test_statistics_of_systems() -> None:
    lengths = np.random.default_rng(0).integers(20, 400, size=(31, 4))
    for row, column, name in zip(lengths_by_system(lengths, list("abcd")), lengths.T, "abcd", strict=True):
        assert row.system == name
        assert row.mean == pytest.approx(sum(column) / 31)
        assert row.deviation == pytest.approx(math.sqrt(sum((column - row.mean) ** 2) / 30))
        assert (row.least, row.median, row.most) == (min(column), sorted(column)[15], max(column))
    single = lengths_by_system([[3.0]], ["a"])[0]
    assert single.mean == single.least == single.most == 3.0
    assert math.isnan(single.deviation)
    assert math.isnan(lengths_by_system(np.empty((0, 1)), ["a"])[0].median)
    assert lengths_by_system(np.empty((3, 0)), []) == []


def test_correlation_with_length_agrees_with_scipy() -> None:
    rng = np.random.default_rng(4)
    lengths = rng.integers(20, 90, size=(12, 5))
    scores = lengths + rng.integers(0, 60, size=lengths.shape)
    found = correlation_with_length(scores, lengths)

    def tau(x: np.ndarray, y: np.ndarray) -> float:
        return float(stats.kendalltau(x, y).statistic)

    assert found == {
        "summary": pytest.approx(tau(scores.ravel(), lengths.ravel())),
        "system": pytest.approx(tau(scores.mean(axis=0).round(9), lengths.mean(axis=0).round(9))),
        "pairwise": pytest.approx(np.mean([tau(x, y) for x, y in zip(scores, lengths, strict=True)])),
        "intra_system": pytest.approx(np.mean([tau(x, y) for x, y in zip(scores.T, lengths.T, strict=True)])),
    }
    assert all(math.isnan(value) for value in correlation_with_length(np.ones((3, 2)), np.ones((3, 2))).values())


def test_mean_score_in_each_bucket() -> None:
    scores = np.array([[1.0, 2.0], [3.0, 6.0]])
    curve = score_by_length(scores, [[10, 20], [60, 70]], width=50)
    assert curve.lengths.tolist() == [0.0, 50.0]
    assert curve.counts.tolist() == [2, 2]
    np.testing.assert_allclose(curve.means, (np.array([1.5, 4.5]) - 3.0) / math.sqrt(14 / 4))
    assert score_by_length(np.empty((0, 2)), np.empty((0, 2))).counts.tolist() == []


def test_agreement_agrees_with_loops() -> None:
    rng = np.random.default_rng(1)
    shape = (6, 4)
    scores, judgements = rng.integers(0, 4, size=shape), rng.integers(1, 4, size=shape)
    lengths = rng.integers(10, 400, size=shape)
    buckets: dict[float, list[float]] = {}
    cells = list(np.ndindex(shape))
    for one in cells:
        for other in cells:
            if judgements[one] > judgements[other]:
                edge = max(min(math.floor((lengths[one] - lengths[other]) / 20) * 20, 200), -200)
                won = (scores[one] > scores[other]) + 0.5 * (scores[one] == scores[other])
                buckets.setdefault(edge, []).append(won)
    curve = agreement_by_length_difference(scores, judgements, lengths)
    assert curve.lengths.tolist() == sorted(buckets)
    assert curve.counts.tolist() == [len(buckets[edge]) for edge in sorted(buckets)]
    np.testing.assert_allclose(curve.means, [np.mean(buckets[edge]) for edge in sorted(buckets)])
    some = agreement_by_length_difference(scores, judgements, lengths, pairs=50)
    assert some.counts.sum() == 50
    assert agreement_by_length_difference([[1, 1]], [[2, 2]], [[3, 4]]).counts.tolist() == []


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="`unit` to be one of characters, words, sentences, but got 'tokens'"):
        count_lengths([["a"]], "tokens")
    with pytest.raises(ValueError, match="rows of 1 texts, but got 2 in row 1"):
        count_lengths([["a"], ["b", "c"]])
    with pytest.raises(ValueError, match=r"`lengths` to have the shape \(1, 2\) of `scores`, but got \(2, 1\)"):
        score_by_length([[1.0, 2.0]], [[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"`method` to be one of .* but got 'tau'"):
        correlation_with_length([[1.0]], [[1.0]], "tau")
    with pytest.raises(ValueError, match=r"`scores` to differ, but got 2.0 everywhere"):
        score_by_length([[2.0, 2.0]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="`pairs` to be at least 1, but got 0"):
        agreement_by_length_difference([[1.0]], [[1.0]], [[1.0]], pairs=0)
