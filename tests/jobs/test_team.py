"""Several processes on one job: the file is that of one."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from estime_metric.jobs import Team
from tests.command import free_port, run_command, start_command, write_jsonl
from tests.jobs.conftest import QUICK, rows


def start_team(folder: Path, *arguments: object) -> list[BaseProcess]:
    """``estime ARGUMENTS`` on two processes, as ``torchrun`` starts them but for its own seconds."""
    store = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": 2}
    store["TORCHELASTIC_RUN_ID"] = "none"
    return [
        start_command(*arguments, said=folder / f"said{rank}.txt", RANK=rank, **store)
        for rank in range(2)
    ]


@pytest.mark.slow
def test_two_processes_write_what_one_does(tmp_path: Path) -> None:
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(30))
    alone, together = tmp_path / "alone.csv", tmp_path / "together.csv"
    run_command("score", table, "-o", alone, *QUICK)
    arguments = ["score", table, "-o", together, *QUICK]
    arguments.remove("-q")
    launcher = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "--no-python",
    ]
    command = [*launcher, sys.executable, "-m", "estime_metric", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert together.read_bytes() == alone.read_bytes()
    assert done.stdout.count("30 pairs scored") == 1
    assert done.stderr.count("  0%|") == 1  # one bar
    assert not list(tmp_path.glob("*.progress"))
    for process in start_team(tmp_path, *arguments):
        process.join(120)
        assert process.exitcode == 2
    assert "already exists. Use --overwrite to replace it." in (tmp_path / "said0.txt").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_a_run_that_loses_a_process_is_resumed(tmp_path: Path) -> None:
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(400))
    with table.open("a") as stream:
        stream.write('{"source": "A cat sat."}\n')
    alone, together = tmp_path / "alone.jsonl", tmp_path / "together.jsonl"
    run_command("score", table, "-o", alone, *QUICK, status=1)
    arguments = ["score", table, "-o", together, *QUICK, "--resume"]
    first, second = start_team(tmp_path, *arguments)
    while not (together.exists() and together.stat().st_size) and first.is_alive():
        time.sleep(0.01)
    second.kill()
    second.join()
    first.terminate()  # as torchrun ends those that are left
    first.join(120)
    assert first.exitcode == 128 + signal.SIGTERM
    assert 0 < together.stat().st_size < alone.stat().st_size
    assert Path(f"{together}.progress").exists()
    for _ in range(2):  # the second time there is nothing left to do
        first, second = start_team(tmp_path, *arguments)
        for process in (first, second):
            process.join(120)
        said = (tmp_path / "said0.txt").read_text(encoding="utf-8")
        assert first.exitcode == 1, said  # as alone: a row is invalid
        assert "1 row skipped" in said
        assert together.read_bytes() == alone.read_bytes()


def test_one_process_is_no_team(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert Team.of_environment() is None
