"""Several processes on one job: the file is that of one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from estime_metric.jobs import Team
from tests.command import run_command
from tests.jobs.conftest import SHORT, rows, write_jsonl


def torchrun(*arguments: object) -> subprocess.CompletedProcess[str]:
    """``python ARGUMENTS`` on two processes."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
    return subprocess.run(
        [*launcher, sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=240
    )


def test_two_processes_write_what_one_does(tmp_path: Path, bert_folder: str) -> None:
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(90))
    alone, together = tmp_path / "alone.csv", tmp_path / "together.csv"
    run_command("score", table, "-o", alone, "-m", bert_folder, "-q", *SHORT)
    arguments = ["-m", "estime_metric", "score", table, "-o", together, "-m", bert_folder, *SHORT]
    done = torchrun(*arguments)
    assert done.returncode == 0, done.stderr
    assert together.read_bytes() == alone.read_bytes()
    assert done.stdout.count("90 pairs scored") == 1
    assert done.stderr.count("  0%|") == 1  # one bar
    assert not list(tmp_path.glob("*.progress"))
    refused = torchrun(*arguments)
    assert refused.returncode != 0
    assert "exists: replace it with --overwrite" in refused.stderr


def test_one_process_is_no_team(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert Team.of_environment() is None
