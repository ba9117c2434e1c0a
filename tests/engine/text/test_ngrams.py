"""Words and shares of new n-grams as a reader of the texts sees them."""

from __future__ import annotations

import pytest

from estime_metric.engine.text.ngrams import SourceNgrams, lower_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 1,200 well-kept cars.", ["it", "s", "1", "200", "well", "kept", "cars"]),
        ("re\u00adports of the f\u200birm\ufeff", ["reports", "of", "the", "firm"]),
        ("\u200fcat\u200e \u202adog\u202c \u2066end\u2069", ["cat", "dog", "end"]),
        ("a\u202eb c\u2060d e\u2069f g\u206ah", ["ab", "cd", "ef", "g", "h"]),
        ("cafe\u0301 caf\u00e9", ["caf\u00e9", "caf\u00e9"]),
        (
            "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627",
            ["\u06a9\u062a\u0627\u0628", "\u0647\u0627"],
        ),  # a joiner separates words
        ("", []),
    ],
)
def test_words_do_not_depend_on_characters_that_are_not_shown(text: str, words: list[str]) -> None:
    assert lower_words(text) == words


def test_a_soft_hyphen_in_the_source_makes_no_new_words() -> None:
    plain = "The firm reports strong growth this year."
    for source in (plain, plain.replace("reports", "re\u00adports")):
        assert SourceNgrams.of(source).new_shares("The firm reports strong growth.") == (0, 0, 0)


@pytest.mark.parametrize(
    ("summary", "new_words", "new_bigrams", "new_trigrams"),
    [
        ("The red dog sat.", 0, 0, 0),
        ("A red dog sat.", 1 / 4, 1 / 3, 1 / 2),
        ("The red dog slept.", 1 / 4, 1 / 3, 1 / 2),
        ("The dog sat.", 0, 1 / 2, 1),
        ("Red cat, red cat.", 1 / 2, 1, 1),  # each occurrence counts
        ("Dog sat.", 0, 0, 0),  # no trigram: the share of the bigrams
        ("Cat.", 1, 1, 1),
        ("", 1, 1, 1),
    ],
)
def test_shares_by_hand(
    summary: str, new_words: float, new_bigrams: float, new_trigrams: float
) -> None:
    shares = SourceNgrams.of("The red dog sat.").new_shares(summary)
    assert shares == pytest.approx((new_words, new_bigrams, new_trigrams))
