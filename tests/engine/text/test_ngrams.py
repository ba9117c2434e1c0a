"""Words and shares of new n-grams as a reader of the texts sees them."""

from __future__ import annotations

import pytest

from estime_metric.engine.text.ngrams import SourceNgrams, lower_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 1,200 well-kept cars.", ["it", "s", "1", "200", "well", "kept", "cars"]),
        ("cafe\u0301 caf\u00e9", ["caf\u00e9", "caf\u00e9"]),
        ("", []),
    ],
)
def test_words_by_hand(text: str, words: list[str]) -> None:
    assert lower_words(text) == words


#: The soft hyphen, spaces and joiners without width, marks of direction.
NOT_SHOWN = (
    "\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)


def test_words_do_not_depend_on_characters_that_are_not_shown() -> None:
    for character in NOT_SHOWN:
        assert lower_words(f"re{character}ports") == ["reports"], ascii(character)
    for (
        separator
    ) in "\u200c\u202f\u2065\u206a\uff00":  # a joiner of Persian, a narrow space, others
        assert lower_words(f"re{separator}ports") == ["re", "ports"], ascii(separator)


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
