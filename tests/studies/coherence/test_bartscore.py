"""BARTScore against the probability of each token by itself, with small random BART and T5."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from tokenizers import processors

from estime_metric.studies.coherence.bartscore import BartScore
from tests.families import SENTENCES, byte_level

POSITIONS = 96


def save_seq2seq(path: Path, kind: str) -> str:
    """A small random model with a tokenizer trained on the test's sentences."""
    special = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    raw = byte_level(SENTENCES, 400, **special)
    ids = {name: raw.token_to_id(token) for name, token in special.items()}
    single = "<s> $A </s>" if kind == "bart" else "$A </s>"
    marks = [("<s>", ids["bos_token"]), ("</s>", ids["eos_token"])]
    raw.post_processor = processors.TemplateProcessing(single=single, special_tokens=marks)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, **special)
    tokenizer.save_pretrained(path)
    torch.manual_seed(0)
    common = {"vocab_size": len(tokenizer), "pad_token_id": ids["pad_token"], "eos_token_id": ids["eos_token"]}
    if kind == "bart":
        config = transformers.BartConfig(
            **common, bos_token_id=ids["bos_token"], decoder_start_token_id=ids["eos_token"], d_model=32,
            encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=POSITIONS, init_std=0.4,
        )  # fmt: skip
        transformers.BartForConditionalGeneration(config).save_pretrained(path)
    else:
        config = transformers.T5Config(
            **common, decoder_start_token_id=ids["pad_token"], d_model=32, d_kv=16, d_ff=48, num_layers=2,
            num_heads=2, initializer_factor=2.0,
        )  # fmt: skip
        transformers.T5ForConditionalGeneration(config).save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module")
def seq2seq(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    root = tmp_path_factory.mktemp("seq2seq")
    folders = {kind: save_seq2seq(root / kind, kind) for kind in ("bart", "t5")}
    return folders.__getitem__


SUMMARIES = [SENTENCES[3], "The bridge", "", SENTENCES[7], "River!"]
SOURCES = [SENTENCES[2], " ".join(SENTENCES[3:5]), SENTENCES[0], "", SENTENCES[3]]


def naive(loaded: tuple, summary: str, source: str) -> float:
    """One pair, one token at a time: the chance of each given those before it."""
    tokenizer, model = loaded
    target = tokenizer(summary)["input_ids"]
    encoded = torch.tensor([tokenizer(source)["input_ids"]])
    before = [model.config.decoder_start_token_id]
    total = 0.0
    for token in target:
        with torch.no_grad():
            logits = model(input_ids=encoded, decoder_input_ids=torch.tensor([before])).logits[0, -1].double()
        total += float(logits[token] - torch.logsumexp(logits, dim=0))
        before.append(token)
    return total / len(target)


def load(folder: str) -> tuple:
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_agrees_with_the_chance_of_each_token_by_itself(seq2seq: Callable[[str], str], kind: str) -> None:
    loaded = load(seq2seq(kind))
    expected = [naive(loaded, *pair) for pair in zip(SUMMARIES, SOURCES, strict=True)]
    assert np.ptp(expected) > 0.1  # the test could tell them apart
    for budget in (1, 8192):
        measure = BartScore(seq2seq(kind), device="cpu", token_budget=budget)
        np.testing.assert_allclose(measure.score(SUMMARIES, SOURCES), expected, rtol=0, atol=2e-4)


def test_order_and_company_change_nothing_and_bad_input_is_named(seq2seq: Callable[[str], str]) -> None:
    measure = BartScore(seq2seq("bart"), device="cpu", token_budget=150)
    found = measure.score(SUMMARIES, SOURCES)
    np.testing.assert_allclose(measure.score(SUMMARIES[::-1], SOURCES[::-1])[::-1], found, atol=1e-4)
    np.testing.assert_allclose(measure.score(SUMMARIES[:1], SOURCES[:1]), found[:1], atol=1e-4)
    assert measure.score([], []).shape == (0,)
    with pytest.raises(ValueError, match="`predictions` and `sources` to be of one length, but got 1 and 2"):
        measure.score(["a"], ["b", "c"])
    with pytest.raises(TypeError, match="`predictions` to be a list of strings, but got one bare str"):
        measure.score("a", "b")
    with pytest.raises(ValueError, match="`token_budget` to be at least 1, but got 0"):
        BartScore("unused", token_budget=0)


def test_too_long_a_text_is_refused_or_cut_and_told(seq2seq: Callable[[str], str]) -> None:
    long = " ".join(SENTENCES)
    strict = BartScore(seq2seq("bart"), device="cpu")
    with pytest.raises(ValueError, match=rf"`sources` .* at most {POSITIONS} tokens, .* the one at index 1 has \d+"):
        strict.score(["a", "b"], ["short", long])
    with pytest.raises(ValueError, match=r"`predictions` .* but the one at index 0 has"):
        strict.score([long, "b"], ["short", "short"])
    cutting = BartScore(seq2seq("bart"), device="cpu", truncate=True)
    found = cutting.score(["a", "b", long], ["short", long, "short"])
    assert np.isfinite(found).all()
    assert found[0] == pytest.approx(strict.score(["a"], ["short"])[0], abs=1e-4)
    unlimited = BartScore(seq2seq("t5"), device="cpu")  # relative positions
    assert unlimited.score(["a"], [long])[0] == pytest.approx(naive(load(seq2seq("t5")), "a", long), abs=2e-4)
