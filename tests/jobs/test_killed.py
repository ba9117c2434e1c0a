"""A run that is killed, stopped, or has a full disk loses the current chunk and nothing else."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import sys
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet
import pytest

from estime_metric.jobs.journal import Journal
from estime_metric.table.formats import WRITABLE
from estime_metric.table.output import journal_path, record_path
from estime_metric.table.table import record_of
from tests.command import FORKS, run_command, run_on_streams, write_jsonl
from tests.jobs.conftest import QUICK, rows

#: How often the standing test kills a run; set to 20 to accept a change of the job.
KILLS, EVERY = int(os.environ.get("ESTIME_KILLS", "4")), 20


def command(table: Path, out: Path, *options: str) -> list[str]:
    return list(map(str, ["score", table, "-o", out, *QUICK, *options]))


#: What Python tells of files; `os.fsync`, of which it does not, is added.
OPERATIONS = ("open", "os.rename", "os.remove", "os.fsync")


def run_in_chunks(arguments: list[str], streams: str, moment: int, kept: Connection) -> None:
    """Runs the command in small chunks; kills the process before this operation on a file in the folder
    of the streams, if it is not 0. Sends a byte for each chunk.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's job does not have
    mock.patch("estime_metric.jobs.journal.LINES", 8).start()
    append, fsync = Journal.append, os.fsync
    folder = str(Path(streams).parent)
    operations = itertools.count(1)

    def sending(journal: Journal, chunk: Any) -> None:
        append(journal, chunk)
        kept.send_bytes(b"1")

    def audited_fsync(descriptor: int) -> None:
        sys.audit("os.fsync", folder)
        fsync(descriptor)

    def killed(event: str, event_arguments: tuple[Any, ...]) -> None:
        is_one = event in OPERATIONS and str(event_arguments[0]).startswith(folder)
        if is_one and next(operations) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    mock.patch.object(Journal, "append", sending).start()
    mock.patch("os.fsync", audited_fsync).start()
    sys.addaudithook(killed)
    run_on_streams(arguments, os.devnull, streams, streams)


def started(arguments: list[str], streams: Path, moment: int = 0) -> tuple[BaseProcess, Connection]:
    """A process that runs the command, and where it tells of each chunk that it has kept."""
    receiver, sender = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=run_in_chunks, args=(arguments, str(streams), moment, sender))
    process.start()
    sender.close()
    return process, receiver


@pytest.fixture
def long_table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pairs.jsonl", rows(300))


def check_whole(long_table: Path, out: Path, whole: Path) -> None:
    """A run that is resumed makes the file of a run that nothing has stopped."""
    run_command(*command(long_table, out, "--resume"))
    if out.suffix == ".parquet":  # has the date in its metadata
        resumed, uninterrupted = map(pyarrow.parquet.read_table, (out, whole))
        assert resumed.equals(uninterrupted)
    else:
        assert out.read_bytes() == whole.read_bytes()
    expected = {out.name, f"{out.name}.lock"}
    expected |= {f"{out.name}.meta.json"} if out.suffix != ".parquet" else set()
    assert {path.name for path in out.parent.glob("*out*")} == expected


@pytest.mark.slow
@pytest.mark.parametrize("ending", WRITABLE)
def test_kill_9_at_random_moments_loses_and_doubles_nothing(
    long_table: Path, tmp_path: Path, ending: str
) -> None:
    out, whole = tmp_path / f"out{ending}", tmp_path / f"whole{ending}"
    rng = random.Random(ending)
    killed = 0
    for _ in range(KILLS):
        process, kept = started(command(long_table, out, "--resume"), tmp_path / "streams.txt")
        try:
            for _ in range(rng.randrange(4)):
                kept.recv_bytes()
        except EOFError:  # it has finished
            pass
        time.sleep(rng.random() * 0.2)
        process.kill()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
    assert killed > KILLS // 2
    run_command(*command(long_table, whole))
    check_whole(long_table, out, whole)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--resume", "--overwrite"])
@pytest.mark.parametrize("ending", WRITABLE)
def test_kill_9_at_each_operation_on_a_file(tmp_path: Path, ending: str, option: str) -> None:
    """An old output is never taken for what a run has begun to replace; new rows are never next to the
    record of old ones. The standing test looks at some of the operations.
    """
    whole, previous = (tmp_path / name / f"out{ending}" for name in ("whole", "previous"))
    # The old output has other rows: lines appended to its own would be scored in batches of other sizes.
    for path, pairs in ((previous, rows(23)[20:]), (whole, rows(20))):
        path.parent.mkdir()
        table = write_jsonl(tmp_path / "pairs.jsonl", pairs)
        run_command(*command(table, path))
    rng = random.Random(f"{ending}{option}")
    for moment in itertools.count(1) if KILLS >= EVERY else rng.sample(range(1, 40), KILLS):
        folder = tmp_path / f"folder{moment}"
        out = folder / f"out{ending}"
        if option == "--overwrite":
            shutil.copytree(previous.parent, folder)
        else:
            folder.mkdir()
        process, _ = started(command(table, out, option), folder / "streams.txt", moment)
        process.join(120)
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        is_old = out.exists() and out.read_bytes() == previous.read_bytes()
        if not is_old and ending != ".parquet" and record_path(out).exists():
            assert record_of(out)["pairs"] == 20
        shown = run_command(*command(table, out, "--resume"), status=None)
        if shown.exit_code == 2:  # nothing had begun
            assert is_old
            assert out.read_bytes() == previous.read_bytes()
            assert "rows scored by the earlier run to be unchanged" in shown.stderr
        else:
            check_whole(table, out, whole)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_at_once_and_says_how_to_resume(
    long_table: Path, out: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """Stopped meanwhile, it keeps every other run from its output."""
    process, kept = started(command(long_table, out), tmp_path / "streams.txt")
    kept.recv_bytes()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    for option in ("--resume", "--overwrite"):
        second = run_command(*command(long_table, out, option), status=2)
        assert (second.stdout, second.stderr) == (
            "",
            f"error: Another run is writing to {out}. Wait until it has finished.\n",
        )
    os.kill(process.pid, number)
    os.kill(process.pid, signal.SIGCONT)
    process.join(60)
    printed = (tmp_path / "streams.txt").read_text(encoding="utf-8")
    assert process.exitcode == 128 + number
    assert journal_path(out).exists()
    assert f"What was scored for {out} is kept. Run it again with --resume to continue." in printed
    assert "Traceback" not in printed
    whole = tmp_path / "whole.jsonl"
    run_command(*command(long_table, whole))
    check_whole(long_table, out, whole)
