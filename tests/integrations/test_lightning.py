"""`ESTIME` in a training loop: the unchanged Lightning example of the documentation, what it has to
keep, and which checkpoint wins. `tests.integrations.test_processes` runs it on two processes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("lightning")
pytest.importorskip("torchmetrics")

from docs.examples import lightning_seq2seq as example
from estime_metric import ESTIME, EstimeScorer, estime

pytestmark = pytest.mark.filterwarnings("ignore")  # Lightning and torch warn of each other


@pytest.fixture
def epochs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the validations of a run saw, the sanity check among them."""
    seen: list[dict[str, Any]] = []

    class Watched(example.Summarizer):  # type: ignore[name-defined, misc]
        def on_validation_epoch_start(self) -> None:
            seen.append({"sanity": self.trainer.sanity_checking, "preds": [], "sources": []})

        def write(self, batch: dict[str, Any]) -> list[str]:
            texts: list[str] = super().write(batch)
            seen[-1]["preds"] += texts
            seen[-1]["sources"] += batch["source"]
            return texts

        def on_validation_epoch_end(self) -> None:
            seen[-1]["misses"] = self.metrics["estime"].source_cache.misses
            super().on_validation_epoch_end()

    monkeypatch.setattr(example, "Summarizer", Watched)
    return seen


@pytest.mark.slow
def test_training_logs_checkpoints_and_resumes(
    epochs: list[dict[str, Any]], bert_folder: str, tmp_path: Path
) -> None:
    few = ["--accelerator", "cpu", "--training", "8", "--validation", "7", "--batch", "2"]
    command = [*few, "--folder", str(tmp_path), "--encoder", bert_folder]
    min_tokens = example.half_length(example.pairs(7, seed=1), bert_folder)
    assert min_tokens > 1

    def inconsistency(epoch: dict[str, Any]) -> float:
        result = estime(epoch["preds"], epoch["sources"], model=bert_folder, min_tokens=min_tokens)
        return result.mean("inconsistency")

    outcome = example.main([*command, "--epochs", "3"])
    assert [epoch["sanity"] for epoch in epochs] == [True, False, False, False]
    values = [inconsistency(epoch) for epoch in epochs[1:]]
    assert len(epochs[1]["preds"]) == 7
    assert len(set(values)) > 1
    assert outcome["val/inconsistency"] == pytest.approx(values[-1], rel=1e-6)
    assert f"|min_tokens:{min_tokens}|" in outcome["signature"]
    assert [epoch["misses"] for epoch in epochs[1:]] == [7, 7, 7]  # no source is encoded again

    saved = torch.load(outcome["best"], weights_only=False)
    assert values[saved["epoch"]] == pytest.approx(min(values), rel=1e-6)  # mode="min"
    assert {name.split(".")[0] for name in saved["state_dict"]} == {"model"}
    (group,) = saved["optimizer_states"][0]["param_groups"]
    assert len(group["params"]) == len(list(example.Summarizer().model.parameters()))

    epochs.clear()
    resume = ["--epochs", "4", "--resume", str(tmp_path / "last.ckpt")]
    again = example.main([*command, *resume])
    assert again["epochs"] == 4
    assert [epoch["sanity"] for epoch in epochs] == [True, False]
    assert again["val/inconsistency"] == pytest.approx(inconsistency(epochs[-1]), rel=1e-6)


def test_the_curve_falls(tmp_path: Path) -> None:
    few = ["--validation", "8", "--epochs", "8", "--plot", f"{tmp_path}/a.svg"]
    outcome = example.main(["--accelerator", "cpu", "--folder", str(tmp_path), *few])
    assert "ROUGE-L" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert torch.load(outcome["best"], weights_only=False)["epoch"] > 3


SOURCES = [
    "The council of the town voted on Tuesday to close the old iron bridge to cars. Engineers had found "
    "rust in four of its twelve beams. Repairs will take eighteen months, the mayor said.",
    "The museum of the city reopened its east wing on Friday after a fire in March. The roof was rebuilt "
    "in oak. Two paintings were lost, and visitors may enter for free until Sunday.",
]
#: Checkpoint -> what it writes: the first two write unfinished texts, the last three sentences.
WRITERS = {
    "three words": ["The council of", "The museum of"],
    "one word": ["The", "The"],
    "references": [
        "A rusty bridge in the town is closed to cars while it is repaired for eighteen months.",
        "The city museum has opened its east wing again, which was damaged by a fire in March.",
    ],
    "with an error": [
        "The council voted to close the iron bridge for sixteen weeks because of rust in its beams.",
        "The museum reopened its east wing on Friday, and all of the paintings were saved in March.",
    ],
    "lead": [source.split(". ")[0] for source in SOURCES],
}


def test_a_checkpoint_that_writes_three_words_does_not_win() -> None:
    """As the recipes do it: at least half of the references' tokens are expected."""
    tokens = EstimeScorer().score(WRITERS["references"], SOURCES).mean("tokens")
    values = {}
    for min_tokens in (None, int(tokens / 2)):
        for name, summaries in WRITERS.items():
            metric = ESTIME(min_tokens=min_tokens)
            metric.update(summaries, sources=SOURCES)
            values[name, min_tokens is not None] = float(metric.compute())
    sentences = ("references", "with an error", "lead")
    assert values["three words", False] < values["references", False]  # without the option
    for unfinished in ("three words", "one word"):
        assert all(values[unfinished, True] > values[name, True] for name in sentences)
    assert all(values[name, True] == values[name, False] for name in sentences)
