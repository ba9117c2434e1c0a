"""A run that is killed, stopped, or has a full disk loses the current chunk and nothing else."""

from __future__ import annotations

import itertools
import os
import pkgutil
import random
import signal
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet
import pytest

from estime_metric.jobs.journal import Journal, journal_path
from estime_metric.table.output import WRITABLE, record_path
from tests.command import FORKS, json_rows, run_command, run_in_process, table_rows, write_jsonl
from tests.jobs.conftest import QUICK, rows

#: How often the standing test kills a run; set to 20 to accept a change of the job.
KILLS = int(os.environ.get("ESTIME_KILLS", "4"))


def command(table: Path, out: Path, *options: str) -> list[str]:
    return list(map(str, ["score", table, "-o", out, *QUICK, *options]))


def run_in_chunks(arguments: list[str], streams: str, moment: str, kept: Connection) -> None:
    """Runs the command in small chunks; kills the process at the call of a function, if one is named.
    Sends a byte for each chunk.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's job does not have
    mock.patch("estime_metric.jobs.journal.LINES", 8).start()
    append = Journal.append

    def sending(journal: Journal, chunk: Any) -> None:
        append(journal, chunk)
        kept.send_bytes(b"1")

    mock.patch.object(Journal, "append", sending).start()
    if moment:
        name, call = moment.split()
        calls = itertools.count(1)
        owner_name, _, function = name.rpartition(".")
        owner = pkgutil.resolve_name(owner_name)
        real = getattr(owner, function)

        def killed(*arguments: Any, **options: Any) -> Any:
            if next(calls) < int(call):
                return real(*arguments, **options)
            if function == "__iter__":
                return killed_after_some(real(*arguments, **options))
            return os.kill(os.getpid(), signal.SIGKILL)

        mock.patch.object(owner, function, killed).start()
    run_in_process(arguments, streams, {})


def killed_after_some(rows: Iterator[Any]) -> Iterator[Any]:
    yield from itertools.islice(rows, 20)
    os.kill(os.getpid(), signal.SIGKILL)


def started(
    arguments: list[str], streams: Path, moment: str = ""
) -> tuple[BaseProcess, Connection]:
    """A process that runs the command, and where it tells of each chunk that it has kept."""
    receiver, sender = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=run_in_chunks, args=(arguments, str(streams), moment, sender))
    process.start()
    sender.close()
    return process, receiver


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What a run that nothing stops makes of the long table, by format."""
    folder = tmp_path_factory.mktemp("whole")
    table = write_jsonl(folder / "pairs.jsonl", rows(300))
    outputs = {ending: folder / f"whole{ending}" for ending in WRITABLE}
    with mock.patch("estime_metric.jobs.journal.LINES", 8):
        for output in outputs.values():
            run_command(*command(table, output))
    return outputs


@pytest.fixture
def long_table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pairs.jsonl", rows(300))


def check_whole(long_table: Path, out: Path, whole: Path) -> None:
    """A run that is resumed makes the file of a run that nothing has stopped."""
    run_command(*command(long_table, out, "--resume"))
    if out.suffix == ".parquet":  # has the date in its metadata
        resumed, uninterrupted = (pyarrow.parquet.read_table(path) for path in (out, whole))
        assert resumed.equals(uninterrupted)
        assert resumed.schema.equals(uninterrupted.schema)
    else:
        assert out.read_bytes() == whole.read_bytes()
    expected = {out.name, f"{out.name}.lock"}
    expected |= {f"{out.name}.meta.json"} if out.suffix != ".parquet" else set()
    assert {path.name for path in out.parent.glob("*out*")} == expected


@pytest.mark.slow
@pytest.mark.parametrize("ending", WRITABLE)
def test_kill_9_at_random_moments_loses_and_doubles_nothing(
    long_table: Path, wholes: dict[str, Path], tmp_path: Path, ending: str
) -> None:
    out = tmp_path / f"out{ending}"
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
    check_whole(long_table, out, wholes[ending])


LAST_PASS, RENAMING = "estime_metric.jobs.journal.OutputRows.__iter__", "pathlib.Path.replace"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "moment"),
    [
        *((ending, "os.fsync 5") for ending in WRITABLE),
        *((ending, "estime_metric.jobs.report.Report.to_dict 1") for ending in WRITABLE),
        *((ending, f"{LAST_PASS} 1") for ending in WRITABLE),
        *((ending, f"{LAST_PASS} 2") for ending in (".csv", ".parquet")),
        *((ending, f"{RENAMING} 1") for ending in WRITABLE),
        *((ending, f"{RENAMING} 2") for ending in (".csv", ".jsonl")),
    ],
)
def test_kill_9_while_a_chunk_is_kept_in_the_last_pass_and_once_everything_is_written(
    long_table: Path, wholes: dict[str, Path], tmp_path: Path, ending: str, moment: str
) -> None:
    """Never are new rows next to the record of old ones."""
    out = tmp_path / f"out{ending}"
    run_command(*command(write_jsonl(tmp_path / "old.jsonl", rows(1)), out))
    process, _ = started(command(long_table, out, "--overwrite"), tmp_path / "streams.txt", moment)
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    if ending != ".parquet" and len(table_rows(out)) > 1:
        assert not record_path(out).exists()
    check_whole(long_table, out, wholes[ending])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_at_once_and_says_how_to_resume(
    long_table: Path, wholes: dict[str, Path], tmp_path: Path, number: signal.Signals
) -> None:
    """Stopped meanwhile, it keeps every other run from its output."""
    out = tmp_path / "out.jsonl"
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
    written = [row for chunk in json_rows(journal_path(out))[1:] for row in chunk["rows"]]
    whole = json_rows(wholes[".jsonl"])
    assert [row["alarms"] for row in written] == [row["alarms"] for row in whole[: len(written)]]
    assert 0 < len(written) < 300
    assert f"What was scored for {out} is kept. Run it again with --resume to continue." in printed
    assert "Traceback" not in printed
    check_whole(long_table, out, wholes[".jsonl"])
