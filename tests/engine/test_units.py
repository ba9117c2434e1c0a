"""Texts to units: whole, without special tokens, with exact spans."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
import transformers

from estime_metric.engine.units import occurring, tokenize
from tests.families import SENTENCES

LONG = " ".join(SENTENCES * 40)


def test_special_tokens_spelled_out_are_ordinary_text(tokenizer) -> None:
    spelled = " ".join(f"a {token} b" for token in tokenizer.all_special_tokens)
    (unit,) = tokenize([spelled], tokenizer)
    assert not occurring(unit, unit)[np.isin(unit.ids, tokenizer.all_special_ids)].any()
    if "Unigram" in type(tokenizer.backend_tokenizer.model).__name__:
        return  # a Unigram model knows its special tokens as pieces
    special = [i for i in tokenizer.all_special_ids if i != tokenizer.unk_token_id]
    assert not np.isin(unit.ids, special).any()


@pytest.mark.parametrize("limit", [16, None])
def test_nothing_is_cut_off_and_nothing_is_said(tokenizer, limit: int | None, caplog) -> None:
    expected = len(tokenizer.backend_tokenizer.encode(LONG, add_special_tokens=False).ids)
    tokenizer.model_max_length = int(1e30) if limit is None else limit
    if limit is not None:
        tokenizer.backend_tokenizer.enable_truncation(limit)
        tokenizer.backend_tokenizer.enable_padding(length=5000)
    (unit,) = tokenize([LONG], tokenizer)
    assert len(unit) == expected > 5000
    assert not caplog.records


def test_unknown_characters_are_never_checked(bert_tokenizer, bert_folder: str) -> None:
    summary, source = tokenize(["the 猫 sat", "a 犬 and the 猫 sat"], bert_tokenizer)
    unknown = summary.ids == bert_tokenizer.unk_token_id
    assert unknown.tolist() == [False, True, False]
    assert occurring(summary, source).tolist() == [True, False, True]
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert_folder)
    tokenizer.unk_token = None
    assert tokenize(["the cat"], tokenizer)[0].known.all()


COMPOSED = "Café 😀 naïve 👩‍👩‍👧 über "


@pytest.mark.parametrize(
    "before",
    [
        "",
        COMPOSED,
        unicodedata.normalize("NFD", COMPOSED),
        "😀 the 😀 ",
        "e\u0301\u0302 ",
        "👩‍👩‍👧👩‍👩‍👧 ",
        "the ﬁne ",
        "ﷺ ",
        "\U0001d518\U0001d52b ",
    ],
)
def test_spans_are_exact_in_and_behind_any_characters(tokenizer, before: str) -> None:
    text = before + "the cat sat."
    (unit,) = tokenize([text], tokenizer)
    starts, stops = unit.spans[:, 0], unit.spans[:, 1]
    assert (starts <= stops).all()
    assert (np.diff(starts) >= 0).all()
    tail = [text[start:stop] for start, stop in unit.spans if stop > len(before)]
    assert "".join(tail) == "thecatsat."  # no span contains white space
    assert tail[-1] == "."
