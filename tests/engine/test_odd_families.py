"""Encoders whose padding changes what stands beside it: exact by batches of equal lengths, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

from estime_metric import EstimeScorer
from tests.families import SENTENCES, make_tokenizer

#: family -> what its small configuration needs beside the common sizes.
ODD: dict[str, dict[str, object]] = {
    "convbert": {"conv_kernel_size": 9, "head_ratio": 2, "num_groups": 1, "embedding_size": 32},
    "nystromformer": {"num_landmarks": 16, "segment_means_seq_len": 64, "conv_kernel_size": 17},
    "fnet": {},
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX", "adapter_reduction_factor": 2},
    "mra": {},
    "yoso": {},
}


def save(folder: Path, family: str) -> str:
    tokenizer = make_tokenizer("bert")
    config = transformers.AutoConfig.for_model(
        family, vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=512, initializer_range=0.3, pad_token_id=tokenizer.pad_token_id,
        type_vocab_size=4, **ODD[family],
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


#: Those whose blocks take no input of an ordinary length.
REFUSED = ("nystromformer",)


@pytest.mark.parametrize("family", [family for family in ODD if family not in REFUSED])
def test_the_budget_changes_no_score(family: str, tmp_path: Path) -> None:
    """A budget of one window leaves nothing to pad; the default one pads what differs in length."""
    folder = save(tmp_path, family)
    options = {"model": folder, "layers": 2, "device": "cpu", "window": 40, "margin": 8, "distance": 4}
    source = " ".join(SENTENCES[:4])
    summaries = [" ".join(sentence.split()[:k]) for k, sentence in enumerate(SENTENCES[:6], start=5)]
    alone = EstimeScorer(**options, token_budget=1).score_candidates(summaries, source)  # type: ignore[arg-type]
    together = EstimeScorer(**options).score_candidates(summaries, source)  # type: ignore[arg-type]
    difference = (alone.values("alarms") - together.values("alarms")).abs().sum()
    assert difference <= max(alone.ties(), together.ties())


@pytest.mark.parametrize("family", REFUSED)
def test_what_cannot_be_run_is_refused_by_name(family: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"`model` to name a BERT-like encoder .* cannot"):
        EstimeScorer(model=save(tmp_path, family), device="cpu").score(["The cat."], ["The cat sat."])
