"""BLANC: the values of the authors' package called by hand, and a row above the paper's."""

from __future__ import annotations

import random
import sys

import pytest
import torch
import transformers

from estime_metric.studies.benchmarks.shared import blanc
from estime_metric.studies.benchmarks.shared.blanc import BlancScorer, blanc_block, load_package
from estime_metric.studies.benchmarks.shared.scored import score
from estime_metric.studies.benchmarks.summeval.data import SummEval

SOURCE = "Jack drove his minivan to the bazaar to purchase milk and honey for his large family. It rained on the way."
SUMMARIES = [
    "Jack drove his minivan to the bazaar to purchase milk.",
    "He drove.",
    "It rained on Jack's minivan.",
]


@pytest.fixture(autouse=True)
def _package() -> None:
    try:
        load_package()
    except ImportError:
        pytest.skip("blanc 0.3.4 is missing: pip install --no-deps blanc==0.3.4")


@pytest.mark.parametrize("kind", ["help", "tune"])
def test_values_are_those_of_the_package_called_by_hand(
    kind: str, bert_folder: str, small_folder: str
) -> None:
    model = "embedded-small" if kind == "help" else bert_folder  # tuning takes its time
    options = {} if kind == "help" else {"finetune_epochs": 2}
    scores = BlancScorer(model, kind=kind, **options).score(SUMMARIES, [SOURCE] * 3)
    by_hand = getattr(load_package(), f"Blanc{kind.capitalize()}")
    path = small_folder if kind == "help" else model
    scorer = by_hand(model_name=path, show_progress_bar=False, **options)
    assert scores.tolist() == [scorer.eval_once(SOURCE, summary) for summary in SUMMARIES]
    if kind == "help":
        assert scores.max() > 0  # the summary helps


def test_random_numbers_and_transformers_stay_as_they_were(bert_folder: str) -> None:
    scorer = BlancScorer(bert_folder, kind="tune", finetune_epochs=1)
    states = random.getstate(), torch.random.get_rng_state()
    scorer.score(SUMMARIES[:1], [SOURCE])
    assert random.getstate() == states[0]
    assert torch.equal(torch.random.get_rng_state(), states[1])
    assert not hasattr(transformers, "AdamW")
    assert "blanc" not in sys.modules or hasattr(sys.modules["blanc"], "__version__")


def test_it_is_a_block_of_the_benchmark(data: SummEval, bert_folder: str) -> None:
    block = blanc_block(bert_folder)
    scores = score(data, [block])
    assert not scores.problems
    values = scores.frame[block.columns[0].name]
    expected = BlancScorer(bert_folder).score(data.summaries, data.sources)
    assert values.tolist() == expected.tolist()
    assert len(set(values.tolist())) > 1
    (one,) = block.columns
    assert one.label == "BLANC bert"
    assert blanc_block("bert-large-uncased").columns[0].label == "BLANC-BLU"
    assert blanc_block("google/albert-xxlarge-v2").columns[0].label == "BLANC-AXXL"
    assert "sentences:" in scores.signatures["BLANC-help bert"]


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "blanc.blanc", raising=False)
    monkeypatch.setattr(blanc.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install --no-deps blanc==0\.3\.4"):
        load_package()
