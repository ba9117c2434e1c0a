"""Several processes on one job: the file is that of one."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from torch.distributed import HashStore

from estime_metric.jobs import ChunkScores, JobPairs, Team, Totals
from estime_metric.jobs.chunks import Chunk
from tests.command import free_port, run_command, start_command, write_jsonl
from tests.jobs.conftest import QUICK, rows


def start_team(folder: Path, *arguments: object) -> list[BaseProcess]:
    """``estime ARGUMENTS`` on two processes, as ``torchrun`` starts them, without its own seconds."""
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


@pytest.mark.parametrize(
    "environment",
    [{}, {"WORLD_SIZE": "4", "RANK": "1"}, {"TORCHELASTIC_RUN_ID": "none", "WORLD_SIZE": "1"}],
)
def test_a_process_that_torchrun_has_not_started_with_others_is_alone(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schedulers set WORLD_SIZE for other programs: nobody would ever come."""
    for name in ("WORLD_SIZE", "RANK", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Team.of_environment() is None


def test_processes_that_do_not_meet_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("estime_metric.jobs.team._MEETING", 1.0)
    port = str(free_port())
    for name, value in {
        "TORCHELASTIC_RUN_ID": "none",
        "WORLD_SIZE": "2",
        "RANK": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(OSError, match=rf"did not meet at 127\.0\.0\.1, port {port}, within 1 sec"):
        Team.of_environment()


def teams(size: int) -> list[Team]:
    store = HashStore()
    return [Team(store, rank, size) for rank in range(size)]


def in_threads(calls: Sequence[Callable[[], object]]) -> list[object]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(60) for future in [pool.submit(call) for call in calls]]


def chunk_of(number: int) -> Chunk:
    pairs = JobPairs()
    pairs.add(line=number, source="s", summary="t", others={"id": number})
    return Chunk(pairs, digest=str(number))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_first_process_gets_all_chunks_in_order_with_their_scores(size: int) -> None:
    scored: list[int] = []

    def score(chunk: Chunk) -> ChunkScores:
        (line,) = chunk.pairs.lines
        scored.append(line)
        time.sleep(0.001 * (line * 7 % 5))
        totals = Totals(pairs=1, blank=line)
        return ChunkScores({"alarms": [line / 3, None]}, totals)

    def run(team: Team) -> list[tuple[Chunk, ChunkScores]]:
        return list(team.run(map(chunk_of, range(1, 41)), score, lambda: False))

    first, *others = in_threads([partial(run, team) for team in teams(size)])
    assert isinstance(first, list)
    assert [chunk.digest for chunk, _ in first] == [str(number) for number in range(1, 41)]
    assert [scores.values["alarms"] for _, scores in first] == [[n / 3, None] for n in range(1, 41)]
    assert first[3][1].totals == Totals(pairs=1, blank=4)
    assert others == [[]] * (size - 1)
    assert sorted(scored) == list(range(1, 41))


def test_values_of_any_size_are_shared_as_json_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("estime_metric.jobs.team._PIECE", 100)
    value = {"text": "ü😀" * 500, "list": [1.5, None, True]}
    first, second = teams(2)
    assert in_threads([partial(second.share, dict), partial(first.share, lambda: value)]) == [
        value,
        value,
    ]
    with pytest.raises(TypeError, match="not JSON serializable"):
        first.share(lambda: {"code": print})


def test_a_failure_of_the_first_process_is_told_to_the_others() -> None:
    first, second = teams(2)

    def fail() -> dict[str, object]:
        raise ValueError("no such output")

    with pytest.raises(ValueError, match="no such output"):
        first.share(fail)
    with pytest.raises(OSError, match="The first process could not start"):
        second.share(dict)


def test_the_others_wait_for_the_first_process_for_some_time_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("estime_metric.jobs.team._MEETING", 0.1)
    with pytest.raises(OSError, match="The first process of torchrun did not start within"):
        teams(2)[1].share(dict)
