"""Extractive fragments: against the longest run that a naive search finds, and the procedure as it is published."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric import EstimeScorer
from estime_metric.engine.statistics import automaton_of, fragment_lengths
from estime_metric.engine.words import split_words
from tests.families import SENTENCES


def naive(summary: Sequence[object], source: Sequence[object]) -> list[int]:
    """ "If there is a sequence of tokens in the source that is prefix of the remainder of the summary", the longest."""
    lengths, at = [], 0
    while at < len(summary):
        found = [
            length
            for length in range(1, len(summary) - at + 1)
            for start in range(len(source) - length + 1)
            if list(source[start : start + length]) == list(summary[at : at + length])
        ]
        lengths += [max(found)] if found else []
        at += max(found, default=1)
    return lengths


def published(summary: Sequence[object], source: Sequence[object]) -> list[int]:
    """Fig. 3, line by line."""
    lengths, i = [], 0
    while i < len(summary):
        longest, j = 0, 0
        while j < len(source):
            if summary[i] == source[j]:
                i_, j_ = i, j
                while i_ < len(summary) and j_ < len(source) and summary[i_] == source[j_]:
                    i_, j_ = i_ + 1, j_ + 1
                longest, j = max(longest, i_ - i), j_
            else:
                j += 1
        lengths += [longest] if longest else []
        i += max(longest, 1)
    return lengths


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=14), st.lists(st.integers(0, 3), max_size=20))
def test_the_fragments_are_the_longest_runs(summary: list[int], source: list[int]) -> None:
    assert fragment_lengths(summary, automaton_of(source)) == naive(summary, source)


def test_on_texts_the_published_procedure_finds_the_same_but_where_a_source_repeats_itself() -> None:
    words = " ".join(SENTENCES).split()
    automaton = automaton_of(words)
    rng = np.random.default_rng(0)
    for _ in range(30):
        cuts = rng.integers(0, len(words) - 9, size=3)
        summary = [word for cut in cuts for word in words[cut : cut + rng.integers(1, 9)]]
        assert fragment_lengths(summary, automaton) == published(summary, words)
    assert fragment_lengths(["no", "no", "way"], automaton_of(["no", "no", "no", "way"])) == [3]
    assert published(["no", "no", "way"], ["no", "no", "no", "way"]) == [2, 1]


def test_a_unit_that_is_never_copied_ends_a_run() -> None:
    assert fragment_lengths(["a", None, "b", "c"], automaton_of(["a", "b", "c"])) == [1, 2]


@pytest.mark.parametrize("text", ["a" * 30_000, "ab" * 15_000, "abcdefghij" * 3_000])
def test_a_long_source_takes_states_in_proportion(text: str) -> None:
    automaton = automaton_of(text)
    assert len(automaton) <= 2 * len(text)
    assert sum(map(len, automaton)) <= 3 * len(text)
    assert fragment_lengths(text, automaton) == [30_000]
    assert fragment_lengths("z".join(text[:20_000]), automaton) == [1] * 20_000


@pytest.mark.parametrize("unit", ["token", "word"])
def test_the_measures_of_a_pair(bert_folder: str, unit: str) -> None:
    scorer = EstimeScorer(model=bert_folder, unit=unit, measures=["copied", "copied_density"])
    source = " ".join(SENTENCES[:3]) + " \U0001f600"
    summaries = [SENTENCES[1], f"\U0001f600 {SENTENCES[2]} {SENTENCES[0]}", SENTENCES[4], ""]
    sources = [source, source, "", source]
    result = scorer.score(summaries, sources)
    tokenizer = scorer.encoder.tokenizer
    for row, (summary, text) in enumerate(zip(summaries, sources, strict=True)):
        names = [split_words(one) if unit == "word" else tokenizer.tokenize(one) for one in (summary, text)]
        lengths = naive([name for name in names[0] if name != "[UNK]"], names[1])
        tokens = max(1, len(names[0]))
        assert result["copied"][row].item() == pytest.approx(sum(lengths) / tokens)
        assert result["copied_density"][row].item() == pytest.approx(sum(n * n for n in lengths) / tokens)
    assert (result["copied"] <= result["coverage"]).all()
    assert result["copied"][0] == 1
    assert (result["copied"][1] == 1) == (unit == "word")  # an unknown token is never checked, so never copied
    with pytest.raises(ValueError, match="`measures` to name 'copied'"):
        EstimeScorer(model=bert_folder).score([], [])["copied"]
