"""Words, shares of new n-grams and copied runs as a reader of the texts sees them."""

from __future__ import annotations

import gc
import time
import tracemalloc
import unicodedata
from collections.abc import Sequence
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric import EstimeScorer, novelty
from estime_metric.wording import names, numbers, text
from estime_metric.wording.source import NOVELTY, SourceWording
from estime_metric.wording.words import RunsOfWords, lower_words
from tests.families import SENTENCES


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 1,200 well-kept cars.", ["it", "s", "1", "200", "well", "kept", "cars"]),
        ("cafe\u0301 caf\u00e9", ["caf\u00e9", "caf\u00e9"]),
        ("Didn't did n't DIDN\u2019T, n't", ["did", "nt", "did", "nt", "did", "nt", "nt"]),
        ("can't ca n't cannot", ["ca", "nt", "ca", "nt", "cannot"]),
        ("\ufb01nal e\ufb03cient \uff21\uff22\uff13", ["final", "efficient", "ab3"]),
        ("10\u00b2 \u00bd", ["10\u00b2", "\u00bd"]),  # not 102
        ("", []),
    ],
)
def test_words_by_hand(text: str, words: list[str]) -> None:
    assert lower_words(text) == words


#: Format characters: the soft hyphen, spaces and joiners without width, marks of direction.
NOT_SHOWN = [
    character for character in map(chr, range(0x3000)) if unicodedata.category(character) == "Cf"
]


def test_words_do_not_depend_on_characters_that_are_not_shown() -> None:
    for character in NOT_SHOWN:
        assert lower_words(f"re{character}ports") == ["reports"], ascii(character)
        assert not SourceWording("Venezuela won.").read(f"He left Vene{character}zuela.").facts
    for separator in "\u202f\u2065":  # a narrow space, a reserved character
        assert lower_words(f"re{separator}ports") == ["re", "ports"], ascii(separator)


@pytest.mark.parametrize(
    ("summary", "new_words", "new_bigrams", "new_trigrams", "repetition", "copied_density"),
    [
        ("The red dog sat.", 0, 0, 0, 0, 4),
        ("A red dog sat.", 1 / 4, 1 / 3, 1 / 2, 0, 9 / 4),
        ("The red dog slept.", 1 / 4, 1 / 3, 1 / 2, 0, 9 / 4),
        ("The dog sat.", 0, 1 / 2, 1, 0, (1 + 4) / 3),
        ("Sat dog red the.", 0, 1, 1, 0, 1),  # all words, no run
        ("Red cat, red cat.", 1 / 2, 1, 1, 0, 2 / 4),  # each occurrence counts
        (
            "Red dog. Red dog, red dog!",
            0,
            2 / 5,
            1,
            1 / 3,
            2,
        ),  # of three runs, the last one is there twice
        ("The " * 50, 0, 1, 1, 46 / 47, 1),
        ("Dog sat.", 0, 0, 0, 0, 2),  # no trigram: the share of the bigrams
        ("Cat.", 1, 1, 1, 0, 0),
        ("", 1, 1, 1, 1, 0),
    ],
)
def test_values_by_hand(
    summary: str,
    new_words: float,
    new_bigrams: float,
    new_trigrams: float,
    repetition: float,
    copied_density: float,
) -> None:
    values = novelty([summary], ["The red dog sat."])
    shares = [values[name][0] for name in NOVELTY if name not in ("new_names", "new_numbers")]
    assert shares == pytest.approx(
        [new_words, new_bigrams, new_trigrams, repetition, copied_density]
    )


def test_novelty_is_in_input_order_and_names_bad_input() -> None:
    sources = ["The red dog sat.", "A cat slept."]
    assert novelty(["A cat slept."] * 2, sources)["new_words"] == [1, 0]
    assert novelty([], []) == {name: [] for name in NOVELTY}
    with pytest.raises(TypeError, match="`predictions` to contain only strings, but got None"):
        novelty(["A cat.", None], sources)  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"`sources` to contain words, but got .* at index 1"):
        novelty(["A cat.", "A dog."], ["A cat.", ""])


def test_novelty_of_many_sources_needs_the_memory_of_one() -> None:
    def peak(sources: list[str]) -> int:
        tracemalloc.start()
        novelty(["word 1"] * len(sources), sources)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    sources = [" ".join(f"w{n} {text}" for n in range(500)) for text in range(20)]
    assert peak(sources) < 5 * peak(sources[:1])


def clear_caches() -> None:
    """Forgets the forms of words that are kept for all texts."""
    for function in chain.from_iterable(vars(module).values() for module in (names, numbers, text)):
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    gc.collect()


@pytest.mark.parametrize(
    "source",
    [
        " ".join(f"w{number} Name{number} {number}" for number in range(2000)),
        "\n".join(f"{number / 7:.2f}\t{number / 11:.2f}" for number in range(2000)),
        " ".join(SENTENCES),
    ],
)
def test_a_source_knows_its_memory(source: str) -> None:
    SourceWording(source)  # patterns keep memory of their last search
    clear_caches()
    tracemalloc.start()
    made = SourceWording(source)
    clear_caches()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert made.nbytes == pytest.approx(used, rel=0.2)


@pytest.mark.parametrize("unit", ["token", "word"])
def test_a_result_has_the_same_numbers_with_any_encoder_and_unit(
    bert_folder: str, unit: str
) -> None:
    source = " ".join(SENTENCES[:3]) + " \U0001f600"
    summaries = [SENTENCES[1], f"\U0001f600 {SENTENCES[2]} {SENTENCES[0]}", SENTENCES[4], "", "!"]
    result = EstimeScorer(model=bert_folder, unit=unit).score(summaries, [source] * 5)
    for name, values in novelty(summaries, [source] * 5).items():
        assert result[name].tolist() == values


def naive(summary: Sequence[str], source: Sequence[str]) -> list[int]:
    """ "If there is a sequence of tokens in the source that is prefix of the remainder of the
    summary", the longest.
    """
    lengths, at = [], 0
    while at < len(summary):
        runs = [
            length
            for length in range(1, len(summary) - at + 1)
            for start in range(len(source) - length + 1)
            if list(source[start : start + length]) == list(summary[at : at + length])
        ]
        lengths += [max(runs)] if runs else []
        at += max(runs, default=1)
    return lengths


@settings(deadline=None)
@given(st.text("abc ", max_size=20), st.text("abc ", max_size=30))
def test_the_fragments_are_the_longest_runs(summary: str, source: str) -> None:
    """Also if words are parts of one another."""
    words, words_of_source = summary.split(), source.split()
    runs = RunsOfWords(words_of_source)
    lengths = runs.fragment_lengths(words, runs.known_lengths(words))
    assert lengths == naive(words, words_of_source)


@pytest.mark.parametrize("text", ["\u0e01\u0e02\u0e04", "\u5317\u4eac", "1.25 ", "w1 w2 w3 w1 "])
def test_the_time_is_linear_in_the_length(text: str) -> None:
    def seconds(length: int) -> float:
        texts = [text * (length // len(text))]
        start = time.process_time()
        novelty(texts, texts)
        return time.process_time() - start

    assert seconds(100_000) < 40 * min(seconds(10_000) for _ in range(3))  # 100 times if quadratic


def new_facts(source: str, summary: str) -> list[str]:
    return [summary[fact.start : fact.end] for fact in SourceWording(source).read(summary).facts]


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("troops of the U.S. left at 3:30 p.m.", "then US troops left about 3:30 PM there"),
        ("on Jan. 5, Tues. and Sept. 3", "there on 5 January, Tuesday and also in September, 3"),
        ("in World War II", "this was in World War Two, or World War 2, as they say"),
        ("in World War Two", "this was in World War II, as they say at this time"),
    ],
)
def test_a_name_or_number_in_another_written_form_is_not_new(source: str, summary: str) -> None:
    assert new_facts(source, summary) == []


@pytest.mark.parametrize(
    ("source", "summary", "expected"),
    [
        # neither the verbs nor the pronoun are a month or a number
        (
            "They may march for one second.",
            "on May 2 or in March they saw 1 of them there",
            ["May", "2", "March"],
        ),
        ("a b", "Here is a summary in 79 words: he saw some 80 men (81 words)", ["80"]),
        ("a b", "1. he left\n2. he came back\n3. he saw 4 men there", ["4"]),
        ("a b", "there were 15 men, fifteen women, and also Xu", ["15", "Xu"]),
        ("World War II", "in World War III, and then in World War 4 they", ["III", "4"]),
        ("a b", "he saw the A320 of flight 9525 over there", ["A320", "9525"]),
    ],
)
def test_new_names_and_numbers_by_hand(source: str, summary: str, expected: list[str]) -> None:
    assert new_facts(source, summary) == expected
