"""Shuffled texts are shuffled; accuracies, lengths and curves over lengths are those of loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.studies.meta import (
    accuracy_by_length_difference,
    shuffle_accuracy,
    shuffle_text,
    shuffle_texts,
)
from estime_metric.studies.meta.shuffle import split_sentences

sentences = st.lists(
    st.sampled_from(["It rained.", "Nobody came!", "Why not?", "We left."]), max_size=6
)
scores = st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 1.0, 2.0])] * 2), min_size=1, max_size=30)


@settings(max_examples=40, deadline=None)
@given(sentences, st.integers(0, 50))
def test_a_shuffled_text_holds_the_same_sentences_in_another_order(
    parts: list[str], seed: int
) -> None:
    text = " ".join(parts)
    made = shuffle_text(text, seed)
    assert sorted(split_sentences(made)) == sorted(parts)
    assert (made != text) == (len(set(parts)) > 1)


def test_every_other_order_is_as_likely() -> None:
    made = [shuffle_text("A.\nB.\nC.", seed) for seed in range(3000)]
    counts = {text: made.count(text) for text in set(made)}
    assert len(counts) == 5
    assert "A.\nB.\nC." not in counts
    assert all(
        500 < count < 700 for count in counts.values()
    )  # 600 expected, standard deviation 22


def test_the_seed_and_the_position_decide_and_nothing_else() -> None:
    text = "One. Two. Three. Four. Five. Six. Seven."
    made = shuffle_texts([text, text, text], seed=5)
    assert made == shuffle_texts([text, text, text, "more"], seed=5)[:3]
    assert len(set(made)) == 3
    assert made != shuffle_texts([text, text, text], seed=6)
    assert shuffle_texts([]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (
            "He paid 2.6 million to v. jones . Then he left .",
            ["He paid 2.6 million to v. jones .", "Then he left ."],
        ),
        (
            '"Go!" She went. (All of them did.) 12 came.',
            ['"Go!"', "She went.", "(All of them did.)", "12 came."],
        ),
        ("`` go ! '' said bob . `` No . '' End", ["`` go ! '' said bob .", "`` No . ''", "End"]),
        ("Line one. Still one\n\n line two ", ["Line one. Still one", "line two"]),
        ("One line. And its end.\n", ["One line.", "And its end."]),
        ("No space.Here", ["No space.Here"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@settings(max_examples=40, deadline=None)
@given(scores)
def test_accuracy_agrees_with_a_loop(pairs: list[tuple[float, float]]) -> None:
    wins = sum(
        1.0 if first > second else 0.5 if first == second else 0.0 for first, second in pairs
    )
    originals, shuffled = zip(*pairs, strict=True)
    assert shuffle_accuracy(originals, shuffled) == pytest.approx(wins / len(pairs))
    assert shuffle_accuracy(shuffled, originals) == pytest.approx(1 - wins / len(pairs))


def check(curve: pd.DataFrame, pairs: list[tuple[float, float, float]]) -> None:
    """A curve of pairs: the difference of two lengths, the score that has to be higher, the other."""
    buckets: dict[float, list[float]] = {}
    for difference, first, second in pairs:
        edge = max(min(math.floor(difference / 20) * 20, 200), -200)
        buckets.setdefault(edge, []).append((first > second) + 0.5 * (first == second))
    assert curve["length"].tolist() == sorted(buckets)
    assert curve["pairs"].tolist() == [len(buckets[edge]) for edge in sorted(buckets)]
    np.testing.assert_allclose(
        curve["accuracy"], [np.mean(buckets[edge]) for edge in sorted(buckets)]
    )


@settings(max_examples=40, deadline=None)
@given(scores, st.data())
def test_curve_by_difference_agrees_with_loops(
    pairs: list[tuple[float, float]], data: st.DataObject
) -> None:
    size = len(pairs)
    lengths = data.draw(st.lists(st.integers(0, 500), min_size=size, max_size=size))
    others = data.draw(st.lists(st.integers(0, 500), min_size=size, max_size=size))
    originals, shuffled = zip(*pairs, strict=True)
    curve = accuracy_by_length_difference(originals, shuffled, lengths, others)
    every = itertools.permutations(range(size), 2)
    check(curve, [(lengths[i] - others[j], originals[i], shuffled[j]) for i, j in every])


def test_no_more_pairs_are_drawn_than_wanted() -> None:
    zeros, lengths = np.zeros(40), np.arange(40.0)
    first, again, other = (
        accuracy_by_length_difference(zeros, zeros, lengths, pairs=500, seed=seed)
        for seed in (2, 2, 3)
    )
    assert first["pairs"].sum() == 500
    assert first["pairs"].tolist() == again["pairs"].tolist() != other["pairs"].tolist()
    assert math.isnan(shuffle_accuracy([], []))
    for number in (0, 1):
        assert accuracy_by_length_difference(*[[1.0] * number] * 3).empty
