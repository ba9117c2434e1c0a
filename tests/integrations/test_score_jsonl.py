"""The `torchrun` example of the documentation: two processes, one merged file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torchmetrics")

from estime_metric import estime

ROOT = Path(__file__).resolve().parents[2]


def test_two_processes_write_one_file(bert_folder: str, pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    rows = [{"id": number, "summary": summary, "source": source} for number, (summary, source) in enumerate(pairs[:7])]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "OMP_NUM_THREADS": "1",
    }
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
        str(ROOT / "docs" / "examples" / "score_jsonl.py"), str(tmp_path / "pairs.jsonl"),
        str(tmp_path / "scores.jsonl"), "--model", bert_folder, "--cache", str(tmp_path / "sources"),
    ]  # fmt: skip
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    result = estime([row["summary"] for row in rows], [row["source"] for row in rows], model=bert_folder)
    scored = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(scored) == len(rows)
    for place, (row, scores) in enumerate(zip(rows, scored, strict=True)):
        assert {name: scores[name] for name in row} == row
        for measure in result.measures:  # one winner of hundreds may change with rounding
            near = 0.005 if measure == "winners" else 0.0
            assert scores[measure] == pytest.approx(float(result.values(measure)[place]), rel=near, abs=1e-6)
        assert scores["signature"] == result.signature
    assert f"7 pairs, {result.values().sum():.0f} alarms" in run.stdout
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pairs.jsonl", "scores.jsonl", "sources"]
