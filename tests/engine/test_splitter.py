"""Words: the default splitter, where words are in the unchanged text, tags, NLTK."""

# ruff: noqa: RUF001 (characters that look like others are what is tested)

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.engine.splitter import (
    decompose,
    find_splitter,
    find_tagger,
    locate_in,
    locate_words,
    split_words,
    tags_of,
)
from estime_metric.engine.units import leave_out_tags, split_into_words, tokenize
from tests.families import toy_tagger

#: Texts of letters, symbols, marks, spaces and characters beyond the basic plane.
TEXTS = st.text(
    st.one_of(
        st.sampled_from(
            "ab Z9.,-'’\"!  \t\n\u0301\u0327é\u1e69ﬁＡ①한각ｶﾞ\u0f73אَ\u05b8😀\ufe0f\u200d👩´½"
        ),
        st.characters(exclude_categories=("Cs",)),
    ),
    max_size=30,
)

#: text, the words in it
EXACT = {
    "emoji variant": ("I ❤\ufe0f it", ["I", "❤\ufe0f", "it"]),
    "accents, decomposed": ("un cafe\u0301 noir", ["un", "cafe\u0301", "noir"]),
    "ligatures": ("an eﬃcient oﬀer", ["an", "eﬃcient", "oﬀer"]),
    "full width": ("ＡＢＣ　ｄｅｆ", ["ＡＢＣ", "ｄｅｆ"]),
    "devanagari": ("हिन्दी में", ["हिन्दी", "में"]),
    "beyond the basic plane": ("𝐁𝐨𝐥𝐝 𝒙", ["𝐁𝐨𝐥𝐝", "𝒙"]),
}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 3.5%, isn’t it?", ["It's", "3.5", "%", ",", "isn’t", "it", "?"]),
        ("state-of-the-art U.S. e-mail_2", ["state-of-the-art", "U.S", ".", "e-mail_2"]),
        ("wait...what--no", ["wait", ".", ".", ".", "what", "-", "-", "no"]),
        ('"Yes," (she) said', ['"', "Yes", ",", '"', "(", "she", ")", "said"]),
        ("\u0301a \u0301 !\u0301", ["\u0301", "a", "\u0301", "!\u0301"]),
    ],
)
def test_it_splits(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@settings(deadline=None)
@given(TEXTS)
def test_of_any_text_the_words_are_all_but_its_white_space_and_stand_where_they_are_found(
    text: str,
) -> None:
    words = split_words(text)
    assert "".join(words) == "".join(text.split())
    spans = locate_words(text, words)
    assert [text[start:end] for start, end in spans] == words
    assert spans == sorted(spans)
    for word, (first, last) in zip(*locate_in(text, split_words), strict=True):
        assert 0 <= first < last <= len(text)
        assert word in unicodedata.normalize("NFKD", text[first:last]) or unicodedata.combining(
            word[0]
        )
    composed, apart = (
        unicodedata.normalize(form, text) for form in ("NFC", "NFD")
    )  # an accented letter is one
    assert [unicodedata.normalize("NFD", word) for word in split_words(composed)] == split_words(
        apart
    )
    # Decomposing is NFKD with a way back.
    decomposed, positions = decompose(text)
    assert decomposed == unicodedata.normalize("NFKD", text)
    assert len(positions) == len(decomposed) + 1
    assert positions == sorted(positions)
    assert positions[-1] == len(text)
    for start, end in {(start, end) for start, end in pairwise(positions) if start < end}:
        own = [k for k in range(len(decomposed)) if positions[k] == start]
        assert decomposed[own[0] : own[-1] + 1] == unicodedata.normalize("NFKD", text[start:end])


@pytest.mark.parametrize("case", EXACT)
def test_spans_are_those_of_the_text_as_it_came(case: str) -> None:
    text, expected = EXACT[case]
    words, spans = locate_in(text, split_words)
    assert [text[start:end] for start, end in spans] == expected
    assert words == [unicodedata.normalize("NFKD", word) for word in expected]


@pytest.mark.parametrize(
    ("text", "words", "spans"),
    [
        ("the cat The end", ["The", "CAT", "the", "end"], [(0, 3), (4, 7), (8, 11), (12, 15)]),
        ("a  b c", ["a", "  b ", "", "c"], [(0, 1), (3, 4), (4, 4), (5, 6)]),
        ("went home", ["went", "home", "again"], [(0, 4), (5, 9), (9, 9)]),
        ("dog cat", ["cat", "dog"], [(0, 0), (0, 3)]),
        ("dog cat", ["cat", "u", "v", "w", "dog"], [(4, 7), (7, 7), (7, 7), (7, 7), (7, 7)]),
        (
            "It is here. Be it.",
            ["It", "be", "here", ".", "Be", "it", "."],
            [(0, 2), (3, 3), (6, 10), (10, 11), (12, 14), (15, 17), (17, 18)],
        ),
        (
            "the cat he is",
            ["cat", "he"],
            [(4, 7), (8, 10)],
        ),  # "he" is in "the", which the splitter omits
    ],
)
def test_words_that_a_splitter_rewrites(
    text: str, words: list[str], spans: list[tuple[int, int]]
) -> None:
    assert locate_words(text, words) == spans


@pytest.mark.parametrize(
    "text",
    [
        'He said "no" and "yes, I can\'t" to us.',
        'He said “no” to us ("twice").',
        "It cannot be; I'm gonna go... well -- no.",
    ],
)
def test_quotation_marks_that_nltk_rewrites_are_located(text: str) -> None:
    words = pytest.importorskip("nltk.tokenize").NLTKWordTokenizer().tokenize(text)
    located = [text[start:end] for start, end in locate_words(text, words)]
    assert "".join(located) == "".join(text.split())
    rewritten = {own for own, word in zip(located, words, strict=True) if own != word}
    assert rewritten <= {'"'}


def test_a_word_without_pieces_is_left_out_and_the_others_keep_their_positions(
    bert_tokenizer,
) -> None:
    def split(text: str) -> Iterator[str]:  # any iterable will do
        yield from text.split()

    (units,) = split_into_words(["cat \x00 dog \u200b the"], bert_tokenizer, split)
    assert units.names.tolist() == ["cat", "dog", "the"]
    assert units.index.tolist() == [0, 2, 4]
    assert units.spans.tolist() == [[0, 3], [6, 9], [12, 15]]


def test_a_tagger_returns_a_tag_or_a_pair_for_each_word() -> None:
    words = ["the", "cat"]
    for tagger in (toy_tagger, lambda some: zip(some, toy_tagger(some), strict=True)):
        assert tags_of(words, tagger) == ["DT", "X"]
    with pytest.raises(
        ValueError, match=r"`tagger` to return a tag for each of 2 words, but got 1"
    ):
        tags_of(words, lambda _: ["DT"])
    for tag in (None, ("the",)):
        with pytest.raises(TypeError, match=r"`tagger` to return a tag for each word.* but got"):
            tags_of(words, lambda words, tag=tag: [tag] * len(words))


def test_a_splitter_returns_strings(bert_tokenizer) -> None:
    with pytest.raises(TypeError, match=r"`splitter` to return the words .* but got None"):
        split_into_words(["a text"], bert_tokenizer, lambda text: ["a", None])


def kept_text(text: str, tokenizer, **tags: frozenset[str] | None) -> str:
    """The characters of the tokens that are kept, without white space."""
    (units,) = tokenize([text], tokenizer)
    units = leave_out_tags(units, split_words, toy_tagger, tags.get("keep"), tags.get("drop"))
    covered = {position for start, end in units.spans.tolist() for position in range(start, end)}
    return "".join("".join(text[position] for position in sorted(covered)).split())


def test_a_token_has_the_tag_of_the_word_in_which_it_begins(tokenizer) -> None:
    text = "The cat sat on the mat, a dog slept\nthe garden"
    x, dt = frozenset({"X"}), frozenset({"DT"})
    assert kept_text(text, tokenizer) == "".join(text.split())
    assert kept_text(text, tokenizer, drop=dt) == "catsatonmat,dogsleptgarden"
    assert kept_text(text, tokenizer, keep=dt | x, drop=x) == "Thetheathe"
    assert kept_text(text, tokenizer, keep=frozenset()) == kept_text("", tokenizer, drop=x) == ""


def test_a_word_has_its_own_tag_also_where_the_splitter_rewrites(bert_tokenizer) -> None:
    text = "the cats and the dogs"

    def split(text: str) -> list[str]:
        return ["a", "cat", "and", "a", "dog"]

    (units,) = split_into_words([text], bert_tokenizer, split)
    left = leave_out_tags(units, split, toy_tagger, None, frozenset({"DT"}))
    assert left.names.tolist() == ["cat", "and", "dog"]
    assert left.index.tolist() == [1, 2, 4]
    assert left.tokens.tolist() == units.tokens.tolist()


@pytest.mark.parametrize(
    ("find", "argument"), [(find_splitter, "A dog."), (find_tagger, ["A", "dog"])]
)
def test_what_lacks_of_nltk_is_named(find, argument, monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(LookupError, match=r"nltk.download\('punkt_tab'\)"):
        find("nltk")(argument)
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[nltk\]'"):
        find("nltk")


def test_nltk_splits_and_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk, "word_tokenize", nltk.tokenize.NLTKWordTokenizer().tokenize)
    monkeypatch.setattr(
        nltk, "pos_tag", lambda words: list(zip(words, toy_tagger(words), strict=True))
    )
    words = find_splitter("nltk")("The cat can't.")
    assert words == ["The", "cat", "ca", "n't", "."]
    assert find_tagger("nltk")(words) == ["DT", "X", "X", "X", "X"]
    assert (find_splitter("regex"), find_splitter(str.split)) == (split_words, str.split)
    assert find_tagger(toy_tagger) is toy_tagger
