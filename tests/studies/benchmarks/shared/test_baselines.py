"""The measures other than ESTIME, against values worked by hand and naive formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.studies.benchmarks.shared.baselines import (
    absent_words,
    bleu,
    jensen_shannon,
    length,
    rouge,
)

SUMMARY = "the cat sat on the mat"
REFERENCES = ("the cat was on the mat", "a dog sat")


#: name -> F1 against each of REFERENCES, worked by hand: hits / n-grams of the summary, hits /
#: those of the reference.
BY_HAND = {
    "ROUGE-1": (5 / 6, 2 / 9),  # all but "sat", 5 / 6 both; "sat", 1 / 6 and 1 / 3
    "ROUGE-2": (3 / 5, 0.0),  # the cat, on the, the mat
    "ROUGE-3": (1 / 4, 0.0),  # on the mat
    "ROUGE-L": (5 / 6, 2 / 9),
}


@pytest.mark.parametrize("name", list(BY_HAND))
def test_rouge_is_worked_by_hand_and_the_mean_over_references(name: str) -> None:
    computed = rouge([SUMMARY, SUMMARY], [REFERENCES, REFERENCES])
    assert computed[name].tolist() == pytest.approx([np.mean(BY_HAND[name])] * 2)
    assert rouge(["cats running"], [["cat runs"]])["ROUGE-2"].tolist() == [1.0]  # stemmed


def test_bleu_is_worked_by_hand_and_reads_all_references() -> None:
    # 1-grams 5 of 6, 2-grams 3 of 5, 3-grams 1 of 4, 4-grams 0 of 3: smoothed to 1 / (2 * 3); no
    # brevity penalty
    expected = 100 * math.exp(sum(math.log(p) for p in (5 / 6, 3 / 5, 1 / 4, 1 / 6)) / 4)
    assert bleu([SUMMARY], [REFERENCES[:1]]).tolist() == pytest.approx([expected])
    both = bleu(
        ["A dog sat on the mat .", "a dog sat"],
        [["x y", "a dog sat on the mat ."], ["x y", "a dog sat"]],
    )
    assert both.tolist() == pytest.approx([100.0, 100.0])


def naive_divergence(summary: list[str], source: list[str]) -> float:
    total = 0.0
    for word in {*summary, *source}:
        p, q = summary.count(word) / len(summary), source.count(word) / len(source)
        m = (p + q) / 2
        total += 0.5 * sum(x * math.log2(x / m) for x in (p, q) if x)
    return total


WORDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_divergence_is_the_naive_formula_between_0_and_1(
    summary: list[str], source: list[str]
) -> None:
    computed = jensen_shannon([" ".join(summary)], [" ".join(source)])[0]
    assert computed == pytest.approx(naive_divergence(summary, source), abs=1e-9)
    assert 0 <= computed <= 1


def test_trivial_measures_ignore_case_and_punctuation_and_empty_texts_have_a_value() -> None:
    assert length(["It 's 3,5 -- well .", ""]).tolist() == [5.0, 0.0]
    assert absent_words(["A red, RED dog!", ""], ["Dog; the cat", "x"]).tolist() == [3.0, 0.0]
    assert jensen_shannon(["", "a"], ["a", " . "]).tolist() == [1.0, 1.0]
    assert [values.tolist() for values in rouge([""], [["a b"]]).values()] == [[0.0]] * 4
    assert bleu([""], [["a b"]]).tolist() == [0.0]
