"""The demo as its users start it: a process that serves the page on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-c", "from estime_metric.cli import app; app()", "demo", "--no-browser")


@dataclass(frozen=True)
class Server:
    """Where a demo is served, and the file that has what it prints."""

    url: str
    printed: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(arguments: Sequence[str], folder: Path, port: int, cwd: Path = ROOT) -> Iterator[Server]:
    """Runs a demo with no network to the Hub; its temporary files and its output go to ``folder``."""
    printed = folder / "printed.txt"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    environment |= {"GRADIO_TEMP_DIR": str(folder / "files"), "GRADIO_SERVER_PORT": str(port)}
    with printed.open("wb") as stream:
        process = subprocess.Popen(arguments, cwd=cwd, env=environment, stdout=stream, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}/"
        _wait(url, process, printed)
        yield Server(url, printed)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait(url: str, process: subprocess.Popen[bytes], printed: Path, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert process.poll() is None, printed.read_text()
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                assert response.status == 200
                return
        except OSError:
            time.sleep(0.3)
    raise AssertionError(f"the demo did not start: {printed.read_text()}")
