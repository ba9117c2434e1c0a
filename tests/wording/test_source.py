"""Words, shares of new n-grams and copied runs as a reader of the texts sees them."""

from __future__ import annotations

import math
import tracemalloc
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric import EstimeScorer, novelty
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
        assert not SourceWording("Venezuela won.").new_facts(f"He left Vene{character}zuela.")
    for separator in "\u202f\u2065":  # a narrow space, a reserved character
        assert lower_words(f"re{separator}ports") == ["re", "ports"], ascii(separator)


@pytest.mark.parametrize(
    ("summary", "new_words", "new_bigrams", "new_trigrams", "copied_density"),
    [
        ("The red dog sat.", 0, 0, 0, 4),
        ("A red dog sat.", 1 / 4, 1 / 3, 1 / 2, 9 / 4),
        ("The red dog slept.", 1 / 4, 1 / 3, 1 / 2, 9 / 4),
        ("The dog sat.", 0, 1 / 2, 1, (1 + 4) / 3),
        ("Sat dog red the.", 0, 1, 1, 1),  # all words, no run
        ("Red cat, red cat.", 1 / 2, 1, 1, 2 / 4),  # each occurrence counts
        ("Dog sat.", 0, 0, 0, 2),  # no trigram: the share of the bigrams
        ("Cat.", 1, 1, 1, 0),
        ("", 1, 1, 1, 0),
    ],
)
def test_values_by_hand(
    summary: str,
    new_words: float,
    new_bigrams: float,
    new_trigrams: float,
    copied_density: float,
) -> None:
    values = novelty([summary], ["The red dog sat."])
    shares = [values[name][0] for name in NOVELTY if name not in ("new_names", "new_numbers")]
    assert shares == pytest.approx([new_words, new_bigrams, new_trigrams, copied_density])


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
    assert RunsOfWords(words_of_source).fragment_lengths(words) == naive(words, words_of_source)


def new_facts(source: str, summary: str) -> list[str]:
    return [summary[fact.start : fact.end] for fact in SourceWording(source).new_facts(summary)]


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("Nicolas spoke.", "later Nicol\u00e1s spoke at length"),
        ("troops of the U.S. left at 3:30 p.m.", "then US troops left about 3:30 PM there"),
        ("a Ph.D. program", "this was a PhD program there"),
        ("the fourth and 21st time", "it was the 4th and twenty-first time there"),
        ("on Jan. 5, Tues. and Sept. 3", "there on 5 January, Tuesday and also in September, 3"),
        ("Sen. Warren spoke", "as the Senator said, Warren spoke there"),
        ("troops in Venezuela", "then the Venezuelan troops came back home"),
        ("Italian and Mexican food", "people from Italy ate, like others in Mexico, some food"),
        ("the Dutch and the Polish", "those from Poland and from Netherlands came here too"),
        ("the World Health Organization", "according to the WHO and others, they left"),
        ("the Department of Justice", "according to the DoJ and others, they left"),
        ("according to the UN", "people of the United Nations, of course, said that"),
        ("1,200 people and 4.50 dollars", "about 1200 people with just 4.5 dollars each"),
        ("twelve men and fifty-one women", "there were 12 men and 51 women in there"),
        ("100 cars or 2,500 boats", "one hundred cars or two thousand five hundred boats"),
        ("a cost of $4.5bn, 5m people", "it cost 4,500,000,000 dollars for 5 million people"),
        ("a dozen men, two dozen women", "there were 12 men and 24 women, some dozen each"),
        ("12 men and 24 women", "there were a dozen men and two dozen women in there"),
        ("songs of the 1990s", "these were the songs of the '90s and not later"),
        ("songs of the 90s", "these were the songs of the 1990s and not later"),
        ("at 10.30am or 9.15 pm", "it was at 10:30 in the morning or 9:15 in the evening"),
        ("at 10:30 or 9:15", "it was at 10.30am or at 9.15 p.m. that he came here"),
        ("10\u00a0000 men, 1\u202f200 women", "there were 10,000 men and 1200 women in there"),
        ("the twenty-second floor", "this was on the 22nd floor and not below"),
        ("United Nations troops came", "then the UN troops came back home"),
        ("in World War II", "this was in World War Two, or World War 2, as they say"),
        ("in World War Two", "this was in World War II, as they say at this time"),
        ("on 2015-04-03, 10-12 men", "in 2015, on the 3rd or the 4th, 10 to 12 men went"),
        ("\u5317\u4eac2008\u5e74", "this was in the year 2008 and not later"),
    ],
)
def test_a_name_or_number_in_another_written_form_is_not_new(source: str, summary: str) -> None:
    assert new_facts(source, summary) == []


@pytest.mark.parametrize(
    ("source", "summary", "expected"),
    [
        ("then Johnson spoke", "later on Johnston spoke at length there", ["Johnston"]),
        ("he said so", "he went to New York with Peter and then New York", ["New York", "Peter"]),
        ("12 men", "there were fifteen men and 13 women, the two of them", ["fifteen", "13"]),
        ("who knows", "the report of the WHO said something else there", ["WHO"]),
        # neither the verbs nor the pronoun are a month or a number
        (
            "They may march for one second.",
            "on May 2 or in March they saw 1 of them there",
            ["May", "2", "March", "1"],
        ),
        ("12 million", "it was 12 billion or 12,000 or maybe 12,000,000", ["12 billion", "12,000"]),
        ("1.2", "it was 12 or 1.20 or so in the end", ["12"]),
        ("a b", 'so he said. Bob left, and then "Carl left". Dora left', []),  # begins a sentence
        ("a b", "so J. Smith left, and later also Mr. Miller left them", ["Smith", "Miller"]),
        ("a b", "Here is a summary in 79 words: he saw some 80 men (81 words)", ["80"]),
        ("a b", "1. he left\n2. he came back\n3. he saw 4 men there", ["4"]),
        ("a b", "there were 15 men, fifteen women, and also Xu", ["15", "Xu"]),
        ("World War II", "in World War III, and then in World War 4 they", ["III", "4"]),
        ("1990s", "it was in the 80s, or in 1.5 of 10 cases", ["80s", "1.5", "10"]),
        ("a b", "he saw the A320 of flight 9525 over there", ["A320", "9525"]),
    ],
)
def test_new_names_and_numbers_by_hand(source: str, summary: str, expected: list[str]) -> None:
    assert new_facts(source, summary) == expected


@pytest.mark.parametrize(
    ("summary", "names", "numbers"),
    [
        ("", 0, 0),
        ("they saw Bob and 3 dogs", 1, 1),
        ("they saw bob and 3 dogs", math.nan, 1),  # no capitals, which say nothing then
        ("BOB SAW THREE DOGS", math.nan, 1),
        ("Bob Sees Three Dogs", math.nan, 1),
        ("Bob Sees 1234 5678 9012 Dogs", math.nan, 3),
    ],
)
def test_names_are_counted_only_where_capitals_say_something(
    summary: str, names: float, numbers: float
) -> None:
    values = novelty([summary], ["a cat"])
    assert values["new_names"] == pytest.approx([names], nan_ok=True)
    assert values["new_numbers"] == [numbers]


def test_a_negation_is_not_a_name_and_don_is() -> None:
    wording = SourceWording("They left on Monday, and she stayed.")
    summary = "On Monday they left (Don't ask), and she Didn\u2019t; Don stayed."
    assert [summary[fact.start : fact.end] for fact in wording.new_facts(summary)] == ["Don"]
