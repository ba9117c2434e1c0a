"""Runs ``estime`` in this process, or Python in another: the exit status and what is said on either stream."""

from __future__ import annotations

import csv
import io
import os
import resource
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from estime_metric import cli


@dataclass(frozen=True)
class Ran:
    """What a run of the command left behind."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def run_command(*arguments: object, status: int | None = 0, columns: int = 80, stdin: str | bytes = "") -> Ran:
    """Runs ``estime ARGUMENTS`` on a screen of some width; ``status`` is the exit status it has to have, if any."""
    typed = stdin.encode() if isinstance(stdin, str) else stdin
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8", write_through=True) for data in (b"", b"", typed)]
    with (
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
        mock.patch.object(sys, "stdin", streams[2]),
        mock.patch.dict(os.environ, {"COLUMNS": str(columns), "TERM": "dumb"}),
    ):
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as left:
            code = left.code
    assert isinstance(code, int)
    out, err = (stream.buffer.getvalue().decode() for stream in streams[:2])  # type: ignore[attr-defined]
    ran = Ran(code, out, err)
    assert status is None or code == status, ran.output
    return ran


def run_python(script: str, *arguments: object, status: int | None = 0, **environment: str) -> Ran:
    """Runs a script in a process of its own, on one thread, with some changes of the environment."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    ran = Ran(run.returncode, run.stdout, run.stderr)
    assert status is None or run.returncode == status, ran.output
    return ran


def csv_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file that a command wrote."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file of this process can grow beyond ``size`` bytes: writing fails as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
