"""Several processes on one job: the file is that of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from estime_metric.jobs import Team
from tests.command import run_command
from tests.jobs.conftest import SHORT, rows, write_jsonl


def start_torchrun(*arguments: object) -> subprocess.Popen[str]:
    """``python ARGUMENTS`` on two processes."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
    command = [*launcher, sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def torchrun(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The same to its end."""
    with start_torchrun(*arguments) as run:
        out, err = run.communicate(timeout=240)
    return subprocess.CompletedProcess(run.args, run.returncode, out, err)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def environment(pid: int) -> dict[str, str]:
    variables = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(variable.partition("=")[::2] for variable in variables)


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_run_that_loses_a_process_is_resumed(tmp_path: Path, bert_folder: str) -> None:
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(400))
    with table.open("a") as stream:
        stream.write('{"source": "A cat sat."}\n')
    alone, together = tmp_path / "alone.jsonl", tmp_path / "together.jsonl"
    run_command("score", table, "-o", alone, "-m", bert_folder, "-q", *SHORT, status=1)
    arguments = ["-m", "estime_metric", "score", table, "-o", together, "-m", bert_folder, "-q", *SHORT, "--resume"]
    with start_torchrun(*arguments) as run:
        while not (together.exists() and together.stat().st_size) and run.poll() is None:
            time.sleep(0.01)
        second = next(pid for pid in children(run.pid) if environment(pid).get("RANK") == "1")
        os.kill(second, signal.SIGKILL)
        assert run.wait(timeout=120) != 0
    assert 0 < together.stat().st_size < alone.stat().st_size
    assert Path(f"{together}.progress").exists()
    for _ in range(2):  # the second time there is nothing left to do
        done = torchrun(*arguments)
        assert done.returncode == 1, done.stderr  # as alone: a row is invalid
        assert "1 rows skipped" in done.stdout
        assert together.read_bytes() == alone.read_bytes()


def test_one_process_is_no_team(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert Team.of_environment() is None
