"""`ESTIME` in Lightning's Trainer: the unchanged example of the documentation, and what it has to
keep.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("lightning")
pytest.importorskip("torchmetrics")

from docs.examples import lightning_seq2seq as example
from estime_metric import estime
from tests.command import free_port
from tests.integrations.two_processes import run_twice

pytestmark = [
    # Lightning and torch warn of each other, of few workers and batches, and of a folder that is
    # used again.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*"),
    pytest.mark.filterwarnings("ignore:The '.*_dataloader' does not have many workers"),
    pytest.mark.filterwarnings("ignore:Checkpoint directory .* exists"),
    pytest.mark.filterwarnings("ignore:.*verify the dirpath"),
    pytest.mark.filterwarnings(
        "ignore:.* is undefined for .* pairs"
    ),  # a model that is not trained may write nothing
]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the validations of a run saw, and the model at its end."""
    seen: dict[str, Any] = {"epochs": []}

    class Watched(example.Summarizer):  # type: ignore[name-defined, misc]
        def on_validation_epoch_start(self) -> None:
            seen["model"] = self
            seen["epochs"].append(
                {"sanity": self.trainer.sanity_checking, "preds": [], "sources": []}
            )

        def write(self, batch: dict[str, Any]) -> list[str]:
            texts: list[str] = super().write(batch)
            seen["epochs"][-1]["preds"] += texts
            seen["epochs"][-1]["sources"] += batch["source"]
            return texts

        def on_validation_epoch_end(self) -> None:
            seen["epochs"][-1]["misses"] = self.metrics["estime"].source_cache.misses
            super().on_validation_epoch_end()

    monkeypatch.setattr(example, "Summarizer", Watched)
    return seen


def inconsistency(epoch: dict[str, Any], encoder: str) -> float:
    return estime(epoch["preds"], epoch["sources"], model=encoder).mean("inconsistency")


def arguments(folder: Path, encoder: str, *more: str) -> list[str]:
    few = ["--training", "8", "--validation", "7", "--batch", "2", "--epochs", "3"]
    return ["--accelerator", "cpu", "--folder", str(folder), "--encoder", encoder, *few, *more]


def as_torchrun(rank: int, port: int, options: list[str], folder: Path) -> None:
    """What one of two processes does that ``torchrun`` starts; its outcome goes to a file."""
    store = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "TORCHELASTIC_RUN_ID": "test"}
    os.environ.update(
        store, WORLD_SIZE="2", LOCAL_WORLD_SIZE="2", RANK=str(rank), LOCAL_RANK=str(rank)
    )
    (folder / f"{rank}.json").write_text(json.dumps(example.main(options)))


@pytest.mark.slow
def test_training_logs_checkpoints_and_resumes(
    watched: dict[str, Any], bert_folder: str, tmp_path: Path
) -> None:
    outcome = example.main(arguments(tmp_path, bert_folder))
    sanity, *epochs = watched["epochs"]
    assert [epoch["sanity"] for epoch in watched["epochs"]] == [True, False, False, False]
    assert len(sanity["preds"]) == 4
    values = [inconsistency(epoch, bert_folder) for epoch in epochs]
    assert len(epochs[0]["preds"]) == 7
    assert len(set(values)) > 1
    assert outcome["val/inconsistency"] == pytest.approx(
        values[-1], rel=1e-6
    )  # Lightning logs float32
    assert outcome["epochs"] == 3
    assert [epoch["misses"] for epoch in epochs] == [7, 7, 7]  # no source is encoded again

    saved = torch.load(outcome["best"], weights_only=False)
    assert values[saved["epoch"]] == pytest.approx(min(values), rel=1e-6)  # mode="min"
    assert not any("metrics" in name for name in saved["state_dict"])
    assert {name.split(".")[0] for name in saved["state_dict"]} == {"model"}
    model = watched["model"]
    parameters = sum(len(group["params"]) for group in saved["optimizer_states"][0]["param_groups"])
    assert parameters == len(list(model.model.parameters()))

    watched["epochs"].clear()
    again = example.main(
        arguments(tmp_path, bert_folder, "--epochs", "4", "--resume", str(tmp_path / "last.ckpt"))
    )
    assert again["epochs"] == 4
    assert [epoch["sanity"] for epoch in watched["epochs"]] == [True, False]
    last = watched["epochs"][-1]
    assert again["val/inconsistency"] == pytest.approx(inconsistency(last, bert_folder), rel=1e-6)


def test_the_curve_falls(tmp_path: Path) -> None:
    few = ["--validation", "8", "--epochs", "8", "--plot", f"{tmp_path}/a.svg"]
    outcome = example.main(["--accelerator", "cpu", "--folder", str(tmp_path), *few])
    assert "ROUGE-L" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert torch.load(outcome["best"], weights_only=False)["epoch"] > 3
    sources = [row["source"] for row in example.pairs(16, seed=2)]
    values = []
    for model in (example.Summarizer(), example.Summarizer.load_from_checkpoint(outcome["best"])):
        summaries = model.write({"source": sources})
        values.append(estime(summaries, sources, model="embedded-small").mean("inconsistency"))
    assert values[1] < values[0] / 2


@pytest.mark.slow
def test_seven_examples_on_two_processes(bert_folder: str, tmp_path: Path) -> None:
    outcome = example.main(arguments(tmp_path, bert_folder, "--epochs", "1"))
    options = arguments(
        tmp_path, bert_folder, "--validate", str(tmp_path / "last.ckpt"), "--devices", "2"
    )
    run_twice(as_torchrun, free_port(), options, tmp_path)
    for rank in range(2):
        both = json.loads((tmp_path / f"{rank}.json").read_text())
        for name in ("inconsistency", "alarms", "coverage", "tokens"):
            assert both[f"val/{name}"] == pytest.approx(outcome[f"val/{name}"], rel=1e-6)
        assert both["val/inconsistency"] > 0
        assert both["signature"] == outcome["signature"]
