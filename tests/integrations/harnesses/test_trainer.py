"""`estime_compute_metrics`: what the Trainer hands over, errors, and what its page shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import transformers

from estime_metric import EstimeScorer
from estime_metric.integrations.trainer import estime_compute_metrics
from tests.integrations.conftest import Pairs, unzip
from tests.integrations.harnesses.pages import run_section


def padded(tokenizer: transformers.PreTrainedTokenizerFast, texts: list[str]) -> np.ndarray:
    """Token ids as the Trainer gathers them: -100 behind each."""
    rows = [tokenizer(text)["input_ids"] for text in texts]
    width = max(map(len, rows)) + 2
    return np.array([row + [-100] * (width - len(row)) for row in rows])


def test_the_inputs_as_sources(
    bert_folder: str, bert_tokenizer: transformers.PreTrainedTokenizerFast, pairs: Pairs
) -> None:
    summaries, sources = unzip(pairs)
    ids, inputs = padded(bert_tokenizer, summaries), padded(bert_tokenizer, sources)
    seen = bert_tokenizer.batch_decode(
        bert_tokenizer(sources)["input_ids"], skip_special_tokens=True
    )
    scorer = EstimeScorer(model=bert_folder)
    from_inputs = estime_compute_metrics(bert_tokenizer, scorer=scorer)
    from_texts = estime_compute_metrics(bert_tokenizer, seen, scorer=scorer)
    outputs = transformers.EvalPrediction(ids, None, inputs=inputs)
    assert from_inputs(outputs) == from_texts(outputs)
    with pytest.raises(ValueError, match="include_for_metrics"):
        from_inputs(transformers.EvalPrediction(ids, None))


def test_errors(bert_folder: str, bert_tokenizer: transformers.PreTrainedTokenizerFast) -> None:
    compute_metrics = estime_compute_metrics(bert_tokenizer, ["A source."], model=bert_folder)
    with pytest.raises(ValueError, match="predict_with_generate"):
        compute_metrics(transformers.EvalPrediction(np.zeros((1, 4, 9), dtype=np.float32), None))
    with pytest.raises(ValueError, match="to have the same length"):
        compute_metrics(transformers.EvalPrediction(np.zeros((2, 4), dtype=np.int64), None))
    with pytest.raises(TypeError, match="`sources` to be a list of strings"):
        estime_compute_metrics(bert_tokenizer, "A source.")


@pytest.mark.slow
def test_the_page(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    (printed,) = run_section("Transformers' Trainer", tmp_path)
    *steps, signature = printed.splitlines()[-3:]
    assert signature.startswith("ESTIME|model:embedded@")
    for step in steps:
        alarms, inconsistency, blank = map(float, step.split())
        assert alarms >= 0
        assert 0 <= inconsistency <= 1
        assert blank in range(4)
