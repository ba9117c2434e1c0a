"""The generator of subtle errors: its properties on hostile texts, and a naive oracle."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from estime_metric.engine.units import tokenize
from estime_metric.studies.benchmarks.subtle_errors import Corrupted, SubtleErrors
from estime_metric.studies.benchmarks.subtle_errors.generator import (
    WholeWord,
    shuffled,
    whole_words,
)
from tests.families import FAMILIES, SENTENCES

#: Words that the tokenizers know whole or in pieces, and characters that break naive string
#: handling.
PIECES = (
    "the",
    "cat",
    "sat",
    "Bridge",
    "RIVER",
    "museum",
    "Nobody",
    "we",
    "1874",
    "3.5",
    "don't",
    "well-known",
    "U.S.",
    "caf\u00e9",
    "cafe\u0301",
    "the\u0301",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u0645\u06cc\u200c\u062e",
    "co\u00adop",
    "\U0001f44d",
    "\U0001f468\u200d\U0001f469",
    "\u6c34",
    "\u00df",
    "\ufb01sh",
    "[MASK]",
    "##ing",
    "_",
    ".",
    ",",
    '"',
    "(",
    ")",
    "\u2014",
)
TEXTS = st.lists(
    st.tuples(
        st.sampled_from(PIECES) | st.sampled_from(" ".join(SENTENCES).split()),
        st.sampled_from(" \n\t"),
    ),
    max_size=14,
).map(lambda parts: "".join(part for pair in parts for part in pair).strip("\t"))
QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def corruptors(encoder_folder: Callable[[str], str]) -> dict[str, SubtleErrors]:
    """Three kinds of tokenizer: WordPiece, byte-level BPE, Unigram."""
    return {
        name: SubtleErrors(encoder_folder(name), n_errors=3)
        for name in ("bert", "roberta", "albert")
    }


def plain(word: str) -> str:
    """A word without capitals and accents."""
    return "".join(
        c for c in unicodedata.normalize("NFKD", word).casefold() if not unicodedata.combining(c)
    )


def check(corrupted: Corrupted, clean: str, wanted: int) -> None:
    """Everything that is promised of one corrupted text."""
    assert corrupted.clean == clean
    assert len(corrupted.errors) + corrupted.n_missing == wanted
    assert sorted(error.step for error in corrupted.errors) == list(range(len(corrupted.errors)))
    end = clean_end = 0
    for error in corrupted.errors:
        (start, stop), (clean_start, clean_stop) = error.span, error.clean_span
        assert corrupted.text[end:start] == clean[clean_end:clean_start]
        assert corrupted.text[start:stop] == error.replacement
        assert clean[clean_start:clean_stop] == error.original
        assert plain(error.original) != plain(error.replacement)
        assert re.fullmatch(
            r"[^\W_](.*[^\W_])?", error.replacement
        )  # letters and digits, not pieces or punctuation
        assert error.rank >= 1
        assert 0 < error.probability <= 1
        for text, (first, last) in ((clean, error.clean_span), (corrupted.text, error.span)):
            around = text[max(0, first - 1) : first] + text[last : last + 1]
            assert not any(
                char.isalnum() or unicodedata.category(char)[0] == "M" for char in around
            )
        end, clean_end = stop, clean_stop
    assert corrupted.text[end:] == clean[clean_end:]


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
@QUICK
@given(text=TEXTS)
def test_what_is_promised_holds_for_any_text(
    corruptors: dict[str, SubtleErrors], family: str, text: str
) -> None:
    (corrupted,) = corruptors[family]([text])
    check(corrupted, text, wanted=3)
    if family == "bert":  # as many errors as there are whole words
        assert len(corrupted.errors) == min(3, len(words_of(text, corruptors[family])))


@pytest.fixture(scope="module")
def by_number(bert_folder: str) -> dict[int, SubtleErrors]:
    """Number of errors -> what makes that many."""
    return {number: SubtleErrors(bert_folder, n_errors=number) for number in (1, 2, 3)}


@settings(QUICK, max_examples=12)
@given(text=TEXTS, wanted=st.integers(1, 3))
def test_fewer_errors_are_the_first_of_more(
    by_number: dict[int, SubtleErrors], text: str, wanted: int
) -> None:
    (several,), (few,) = by_number[3]([text]), by_number[wanted]([text])
    assert several.first(wanted) == few


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_makes_all_errors(family: str, encoder_folder: Callable[[str], str]) -> None:
    corrupt = SubtleErrors(encoder_folder(family), n_errors=3, seed=2)
    texts = [" ".join(SENTENCES[:2]), SENTENCES[3]]
    for corrupted, text in zip(corrupt(texts), texts, strict=True):
        check(corrupted, text, wanted=3)
        assert corrupted.n_missing == 0


def oracle(folder: str, text: str, n_errors: int, seed: int) -> tuple[str, list[tuple]]:
    """The paper's recipe by string handling, white-space words of letters only, one mask at a time,
    in float64.
    """
    fill = transformers.pipeline("fill-mask", folder, dtype=torch.float64, device="cpu", top_k=20)
    tokenizer = fill.tokenizer
    clean, words, made = text.split(" "), text.split(" "), []
    starts = {i: sum(len(word) + 1 for word in words[:i]) for i in range(len(words))}
    suitable = [
        WholeWord(i, (starts[i], starts[i] + len(word)))
        for i, word in enumerate(words)
        if len(tokenizer.tokenize(word)) == 1
    ]
    for chosen in shuffled(suitable, text, seed)[:n_errors]:
        i = chosen.position
        guesses = fill(" ".join([*words[:i], tokenizer.mask_token, *words[i + 1 :]]))
        rank, guess = next(
            (rank, guess)
            for rank, guess in enumerate(guesses, 1)
            if guess["token_str"].isalnum() and guess["token_str"] != clean[i].lower()
        )
        word = guess["token_str"]
        words[i] = word.capitalize() if clean[i][0].isupper() else word
        made.append((clean[i], words[i], rank, pytest.approx(guess["score"], rel=1e-4)))
    return " ".join(words), made


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_generator_does_what_the_naive_one_does(seed: int, bert_folder: str) -> None:
    text = "The Cat sat on the Mat while the Dog slept in the Garden behind the House and Heavy Rain fell over the Town"
    expected, made = oracle(bert_folder, text, 5, seed)
    (corrupted,) = SubtleErrors(bert_folder, n_errors=5, seed=seed)([text])
    assert corrupted.text == expected
    by_step = sorted(corrupted.errors, key=lambda error: error.step)
    assert [
        (error.original, error.replacement, error.rank, error.probability) for error in by_step
    ] == made


@pytest.mark.parametrize(("length", "position"), [(40, 0), (40, 39), (40, 20), (5, 2), (10, 9)])
def test_the_window_holds_the_mask_and_its_neighborhood(
    length: int, position: int, bert_folder: str
) -> None:
    head = SubtleErrors(bert_folder, window=10).head
    tokenizer = head.tokenizer
    (units,) = tokenize([" ".join(SENTENCES)], tokenizer)
    tokens = units.tokens[:length]
    scores = head.scores(tokens, position)
    first = max(0, min(position - 5, length - 10))
    inside = tokens[first : first + 10].tolist()
    inside[position - first] = tokenizer.mask_token_id
    model = transformers.AutoModelForMaskedLM.from_pretrained(
        bert_folder, dtype=torch.float64
    ).eval()
    with torch.no_grad():
        ids = torch.tensor([[tokenizer.cls_token_id, *inside, tokenizer.sep_token_id]])
        expected = model(ids).logits[0, position - first + 1]
    torch.testing.assert_close(scores, expected, rtol=1e-3, atol=1e-3)


def words_of(text: str, corrupt: SubtleErrors) -> list[str]:
    (units,) = tokenize([text], corrupt.head.tokenizer)
    return [text[slice(*word.span)] for word in whole_words(text, units)]


def test_what_counts_as_a_whole_word() -> None:
    corrupt = SubtleErrors("embedded-small")
    assert words_of(
        "It's a well-known, 3.5 metre (tall) tree \u2014 see U.S. law of 1874!", corrupt
    ) == ["a", "metre", "tall", "tree", "see", "law", "of", "1874"]
    assert words_of("electroencephalographist", corrupt) == []  # several pieces
    assert words_of("cafe\u0301 caf\u00e9", corrupt) == [
        "cafe\u0301",
        "caf\u00e9",
    ]  # marks belong to the word
    assert (
        words_of("the\u00adre the\u200dre the\u200bre", corrupt) == []
    )  # joined by invisible characters
    assert words_of("\U0001f44d\U0001f468\u200d\U0001f469 ... \u2014 _ \u6c34\u6c34", corrupt) == []


def test_the_seed_picks_other_words(bert_folder: str) -> None:
    text = " ".join(SENTENCES[:4])
    computed = {
        SubtleErrors(bert_folder, seed=seed)([text])[0].errors[0].clean_span for seed in range(5)
    }
    assert len(computed) > 2
    words = [WholeWord(i, (i, i + 1)) for i in range(6)]
    assert [word.position for word in shuffled(words, "abcdef", 0)] == [
        2,
        5,
        0,
        1,
        3,
        4,
    ]  # recorded: never to change


def test_nothing_in_nothing_out_and_errors_can_be_taken_back(bert_folder: str) -> None:
    corrupt = SubtleErrors(bert_folder)
    assert corrupt([]) == []
    assert corrupt(["", " \n", "... !"]) == [
        Corrupted(text, text, (), 3) for text in ("", " \n", "... !")
    ]
    single, corrupted = corrupt(["the", SENTENCES[0]])
    assert (len(single.errors), single.n_missing) == (1, 2)
    assert corrupted.first(0) == Corrupted(SENTENCES[0], SENTENCES[0], (), 0)
    assert corrupted.first(3) == corrupted


def test_the_signature_names_what_counts(bert_folder: str) -> None:
    corrupt = SubtleErrors(bert_folder, n_errors=2, seed=7, window=100)
    assert re.fullmatch(
        r"SubtleErrors\|model:bert@sha256-\w{12}\|errors:2\|seed:7\|window:100\|dtype:float32\|version:.+",
        corrupt.signature,
    )
