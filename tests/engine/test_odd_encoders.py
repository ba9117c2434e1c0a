"""Encoders whose numbers are not finite, or whose padding changes what stands beside it: refused by name, or exact."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers

from estime_metric import EstimeScorer
from tests.families import SENTENCES, make_tokenizer

Change = Callable[[torch.nn.Module], object]


def spoilt(folder: str, path: Path, change: Change) -> str:
    shutil.copytree(folder, path)
    model = transformers.AutoModelForMaskedLM.from_pretrained(path)
    with torch.no_grad():
        change(model.base_model)
    model.save_pretrained(path)
    return str(path)


def one_weight(model: torch.nn.Module) -> None:
    model.encoder.layer[0].output.dense.weight[0, 0] = torch.nan


def some_words(model: torch.nn.Module) -> None:
    model.embeddings.word_embeddings.weight[40:, 0] = torch.inf


def large(model: torch.nn.Module) -> None:
    """Finite in float32, beyond the range of float16."""
    model.encoder.layer[0].output.LayerNorm.weight.mul_(1e5)


@pytest.mark.parametrize(
    ("change", "dtype", "way_out"),
    [
        (one_weight, "bfloat16", ""), (some_words, "float32", ""),
        (large, "float16", ", or they need `dtype` float32 or bfloat16"),
    ],
)  # fmt: skip
def test_the_encoder_is_named(bert_folder: str, tmp_path: Path, change: Change, dtype: str, way_out: str) -> None:
    model = spoilt(bert_folder, tmp_path / "spoilt", change)
    said = f"'{model}' gave embeddings that are not finite in torch.{dtype}: its weights hold NaN or infinity{way_out}."
    with pytest.raises(FloatingPointError, match=re.escape(said)):
        EstimeScorer(model=model, dtype=dtype).score([SENTENCES[0]], [SENTENCES[0]])
    if change is large:
        assert EstimeScorer(model=model).score([SENTENCES[0]], [SENTENCES[0]]).values("overlap").item() > 0


def test_input_embeddings_that_are_not_finite_give_no_soft(bert_folder: str, tmp_path: Path) -> None:
    model = spoilt(bert_folder, tmp_path / "other", some_words)
    scorer = EstimeScorer(model=bert_folder, measures="soft", soft_model=model)
    with pytest.raises(FloatingPointError, match=f"input embeddings of '{model}' are not finite"):
        scorer.score([SENTENCES[0]], [SENTENCES[0]])


#: family -> what its small configuration needs beside the common sizes.
ODD: dict[str, dict[str, object]] = {
    "convbert": {"conv_kernel_size": 9, "head_ratio": 2, "num_groups": 1, "embedding_size": 32},
    "fnet": {},
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX", "adapter_reduction_factor": 2}, "mra": {}, "yoso": {},
}  # fmt: skip


def save(folder: Path, family: str, **own: object) -> str:
    tokenizer = make_tokenizer("bert")
    config = transformers.AutoConfig.for_model(
        family, vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=512, initializer_range=0.3, pad_token_id=tokenizer.pad_token_id,
        type_vocab_size=4, **own,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("family", ODD)
def test_the_budget_changes_no_score(family: str, tmp_path: Path) -> None:
    """A budget of one window leaves nothing to pad; the default one pads what differs in length."""
    folder = save(tmp_path, family, **ODD[family])
    options = {"model": folder, "layers": 2, "device": "cpu", "window": 40, "margin": 8, "distance": 4}
    source = " ".join(SENTENCES[:4])
    summaries = [" ".join(sentence.split()[:k]) for k, sentence in enumerate(SENTENCES[:6], start=5)]
    alone = EstimeScorer(**options, token_budget=1).score_candidates(summaries, source)  # type: ignore[arg-type]
    together = EstimeScorer(**options).score_candidates(summaries, source)  # type: ignore[arg-type]
    difference = (alone.values("alarms") - together.values("alarms")).abs().sum()
    assert difference <= max(alone.ties(), together.ties())


def test_blocks_that_take_no_input_of_an_ordinary_length_are_refused_by_name(tmp_path: Path) -> None:
    model = save(tmp_path, "nystromformer", num_landmarks=16, segment_means_seq_len=64, conv_kernel_size=17)
    with pytest.raises(ValueError, match=r"`model` to name a BERT-like encoder .* cannot"):
        EstimeScorer(model=model, device="cpu").score(["The cat."], ["The cat sat."])
