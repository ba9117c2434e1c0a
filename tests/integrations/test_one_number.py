"""Without any option and without a network, every front gives the same number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from estime_metric.examples import PATH as EXAMPLES
from tests.command import run_python

SCRIPT = """
    import json, subprocess, sys, warnings
    from pathlib import Path

    warnings.simplefilter("ignore")  # those of Lightning
    path = sys.argv[1]
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    summaries, sources = [row["summary"] for row in rows], [row["source"] for row in rows]
    numbers = {}

    command = [sys.executable, "-m", "estime_metric", "score", path, "-q", "--json"]
    shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    numbers["command"] = shown["measures"]["inconsistency"]["mean"], shown["signature"]

    from estime_metric import ESTIME, estime

    result = estime(summaries, sources)
    numbers["function"] = result.mean("inconsistency"), result.signature

    import evaluate
    from estime_metric.integrations.evaluate import register

    register()
    scores = evaluate.load("estime").compute(predictions=summaries, sources=sources)
    numbers["evaluate"] = scores["inconsistency"], scores["signature"]

    import lightning
    import torch

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.metric = ESTIME()

        def validation_step(self, batch, _):
            self.metric.update(batch["summary"], sources=batch["source"])
            self.log("inconsistency", self.metric, on_epoch=True, batch_size=len(batch["summary"]))

    batches = [rows[:3], rows[3:]]
    loader = torch.utils.data.DataLoader(
        [{name: [row[name] for row in batch] for name in ("summary", "source")} for batch in batches],
        batch_size=None,
    )
    trainer = lightning.Trainer(
        accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False
    )
    module = Module()
    logged = trainer.validate(module, loader, verbose=False)[0]
    numbers["lightning"] = logged["inconsistency"], module.metric.signature
    print(json.dumps(numbers))
"""


@pytest.mark.slow
def test_one_number_offline_without_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("evaluate")
    pytest.importorskip("lightning")
    monkeypatch.chdir(tmp_path)
    home = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    run = run_python(SCRIPT, Path(EXAMPLES), **home)
    numbers = json.loads(run.stdout.splitlines()[-1])
    assert set(numbers) == {"command", "function", "evaluate", "lightning"}
    for name, (value, signature) in numbers.items():
        assert value == pytest.approx(numbers["function"][0], abs=5e-7), name
        assert signature == numbers["function"][1]
    assert signature.startswith("ESTIME|model:embedded@sha256-")
    assert "|distance:2|" in signature
