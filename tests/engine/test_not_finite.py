"""Encoders whose numbers are not finite are refused by name: no alarm is counted on NaN."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers

from estime_metric import EstimeScorer
from tests.families import SENTENCES

Change = Callable[[torch.nn.Module], object]


def spoilt(folder: str, path: Path, change: Change) -> str:
    """A copy of an encoder whose weights ``change`` has changed in place."""
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
        (one_weight, "bfloat16", ""),
        (some_words, "float32", ""),
        (large, "float16", ", or they need `dtype` float32 or bfloat16"),
    ],
)
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
