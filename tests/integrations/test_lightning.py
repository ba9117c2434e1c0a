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
from estime_metric import ESTIME, EstimeScorer
from estime_metric.engine.cache import DEFAULT_CACHE

pytestmark = pytest.mark.filterwarnings("ignore")  # Lightning and torch warn of each other


@pytest.mark.slow
def test_training_logs_checkpoints_and_resumes(bert_folder: str, tmp_path: Path) -> None:
    rows = example.pairs(7, seed=1)
    few = ["--accelerator", "cpu", "--training", "8", "--validation", "7", "--batch", "2"]
    command = [*few, "--folder", str(tmp_path), "--encoder", bert_folder]
    last = tmp_path / "last.ckpt"

    def inconsistency(checkpoint: Path) -> Any:
        """Of what a checkpoint writes, as it should be logged."""
        model = example.Summarizer.load_from_checkpoint(checkpoint)
        sources = [row["source"] for row in rows]
        scorer = EstimeScorer(model=bert_folder, min_tokens=example.half_length(rows, bert_folder))
        result = scorer.score(model.write({"source": sources}), sources)
        assert model.metrics["estime"].signature == result.signature
        return pytest.approx(result.mean("inconsistency"), rel=1e-6)

    logged = [example.main([*command, "--epochs", "1"])["val/inconsistency"]]
    assert logged[0] == inconsistency(last)
    assert DEFAULT_CACHE.misses == 7
    for epochs in ("2", "3"):
        outcome = example.main([*command, "--epochs", epochs, "--resume", str(last)])
        logged.append(outcome["val/inconsistency"])
        assert logged[-1] == inconsistency(last)
    assert outcome["epochs"] == 3
    assert len(set(logged)) > 1
    assert DEFAULT_CACHE.misses == 7  # no source is encoded again
    assert min(logged) == inconsistency(outcome["best"])

    saved = torch.load(outcome["best"], weights_only=False)
    assert {name.split(".")[0] for name in saved["state_dict"]} == {"model"}
    (group,) = saved["optimizer_states"][0]["param_groups"]
    assert len(group["params"]) == len(list(example.Summarizer().model.parameters()))


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
