"""Runs ``estime`` in this process or in another, or Python: the exit status and what is said on
either stream.
"""

from __future__ import annotations

import csv
import io
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from estime_metric import cli
from estime_metric.table.formats import Row
from estime_metric.table.rows import read_rows

#: Short windows, so that short texts have several.
SHORT = ["--config", str(Path(__file__).with_name("short.json"))]

#: Starts processes that have the imports already, which take a new one seconds; Windows cannot.
_HAS_FORKSERVER = "forkserver" in multiprocessing.get_all_start_methods()
FORKS = multiprocessing.get_context("forkserver" if _HAS_FORKSERVER else "spawn")
if _HAS_FORKSERVER:
    FORKS.set_forkserver_preload(
        [
            "estime_metric.scorer",
            "estime_metric.jobs",
            "estime_metric.cli.score",
            "transformers.models.bert.modeling_bert",
            "torchmetrics",
        ]
    )


@dataclass(frozen=True)
class Ran:
    exit_code: int
    stdout: str
    stderr: str
    data: bytes = b""  # of standard output

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def run_command(
    *arguments: object,
    status: int | None = 0,
    columns: int = 80,
    stdin: str | bytes = "",
    encoding: str = "utf-8",
) -> Ran:
    """Runs ``estime ARGUMENTS`` on a screen of some width and encoding; ``status`` is the exit
    status it has to have, if any.
    """
    typed = stdin.encode() if isinstance(stdin, str) else stdin
    streams = [
        io.TextIOWrapper(io.BytesIO(data), encoding, newline="\n", write_through=True)
        for data in (b"", b"", typed)
    ]
    with (
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
        mock.patch.object(sys, "stdin", streams[2]),
        mock.patch.dict(
            os.environ, {"COLUMNS": str(columns), "TERM": "dumb", "TTY_COMPATIBLE": "0"}
        ),  # no terminal, which would have its own width, whatever FORCE_COLOR says
    ):
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as left:
            code = left.code
    assert isinstance(code, int)
    out, err = (stream.buffer.getvalue() for stream in streams[:2])  # type: ignore[attr-defined]
    ran = Ran(code, out.decode(encoding, "replace"), err.decode(encoding, "replace"), out)
    assert status is None or code == status, ran.output
    return ran


def run_on_streams(arguments: list[str], *streams: str | None) -> None:
    """Runs ``estime ARGUMENTS`` in this process with these files as its streams, to which it appends;
    ``None`` is one that a shell has closed.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    opened = [os.open(path or os.devnull, flags) for path in streams]
    for number, descriptor in enumerate(opened):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if streams[number] is None:
            os.close(number)
            setattr(sys, name, None)
    one_thread()
    cli.main(arguments)


def run_forked(arguments: list[str], *streams: str | None) -> int | None:
    """The exit status of `run_on_streams` in another process."""
    process = FORKS.Process(target=run_on_streams, args=(arguments, *streams))
    process.start()
    process.join()
    return process.exitcode


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def one_thread() -> None:
    """Has torch work on one thread, as several simultaneous processes should."""
    import torch

    torch.set_num_threads(1)


def run_python(script: str, *arguments: object, status: int | None = 0, **environment: str) -> Ran:
    """Runs a script in a separate process, on one thread, with some changes of the environment."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    ran = Ran(run.returncode, run.stdout, run.stderr)
    assert status is None or run.returncode == status, ran.output
    return ran


_IN_CHILD = """
import os, signal, sys

def in_child(function):
    '''What a forked process exits with: 0, or 256 if the function fails, which is then printed.'''
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends a child that hangs
        try:
            function()
            code = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", flush=True)
            code = 1
        os._exit(code)
    return os.waitpid(child, 0)[1]
"""


def run_with_forks(script: str, *arguments: object) -> list[str]:
    """The lines that a script prints which calls ``in_child``."""
    return run_python(_IN_CHILD + textwrap.dedent(script), *arguments).stdout.splitlines()


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def json_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table_rows(path: Path) -> list[tuple[int, Row]]:
    """Number and row of each line of a table, none of which is invalid."""
    lines = list(read_rows(path))
    assert not any(line.problem for line in lines)
    return [(line.number, line.row) for line in lines]


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file of this process can grow beyond ``size`` bytes: writing fails as it does on a full
    disk.
    """
    import resource  # Windows has no such module

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
