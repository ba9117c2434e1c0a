"""BERTScore with a small encoder, against TorchMetrics where that is right and a naive formula
elsewhere.
"""

from __future__ import annotations

import numpy as np
import pytest
import transformers
from torchmetrics.functional.text import bert_score

from estime_metric.engine.encoder.folder import EncoderUnavailableError
from estime_metric.studies.benchmarks.shared.bertscore import NAMES, BertScorer
from tests.families import BLOCKS, SENTENCES

SUMMARIES = [SENTENCES[0], SENTENCES[1][:40], "The river rose.", SENTENCES[0], "the cat sat"]
REFERENCES = [
    [SENTENCES[2], SENTENCES[0][:30]],
    [SENTENCES[1]],
    [SENTENCES[2]],
    [SENTENCES[3]],
    ["The cat sat"],
]


def torchmetrics_score(folder: str, summary: str, reference: str, layer: int) -> list[float]:
    """F1, precision, recall of one pair."""
    model = transformers.AutoModel.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    options = {"model": model, "user_tokenizer": tokenizer, "num_layers": layer, "truncation": True}
    computed = bert_score([summary], [reference], **options)
    return [float(computed[name]) for name in ("f1", "precision", "recall")]


def test_a_pair_has_the_score_of_torchmetrics(bert_folder: str) -> None:
    scorer = BertScorer(bert_folder)
    for summary, references in zip(SUMMARIES[:3], REFERENCES, strict=False):
        computed = scorer.score([summary], [references[:1]])
        expected = torchmetrics_score(bert_folder, summary, references[0], scorer.layer)
        assert [computed[name][0] for name in NAMES] == pytest.approx(expected, abs=1e-4)


def test_several_references_have_their_mean_and_empty_texts_have_0(bert_folder: str) -> None:
    scorer = BertScorer(bert_folder)
    assert scorer.layer == round(17 / 24 * BLOCKS)
    assert f"|layer:{scorer.layer}|" in scorer.signature
    alone = [scorer.score([SUMMARIES[0]], [[text]]) for text in REFERENCES[0]]
    computed = scorer.score([SUMMARIES[0]], [REFERENCES[0]])
    for name in NAMES:
        expected = np.mean([single[name][0] for single in alone])
        assert computed[name][0] == pytest.approx(expected, abs=1e-5)
    computed = scorer.score(["", "a cat"], [["the cat"], [" "]])
    assert {name: computed[name].tolist() for name in NAMES} == {name: [0.0, 0.0] for name in NAMES}
    assert {name: len(values) for name, values in scorer.score([], []).items()} == dict.fromkeys(
        NAMES, 0
    )


def test_what_cannot_be_scored_is_named(bert_folder: str) -> None:
    with pytest.raises(ValueError, match=r"texts of at most 512 tokens, .* index 0 has"):
        BertScorer(bert_folder).score([" ".join(SENTENCES * 3)], [["the cat"]])
    with pytest.raises(EncoderUnavailableError, match="no-such-folder"):
        BertScorer("./no-such-folder")
