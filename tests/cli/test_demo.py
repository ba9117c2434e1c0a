"""``estime demo``: what it refuses. That it serves the page is seen in tests/demo."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from estime_metric.cli import app
from tests.demo.serving import COMMAND, ROOT


def test_without_gradio_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "estime_metric.demo.app", raising=False)
    monkeypatch.setitem(sys.modules, "gradio", None)
    result = CliRunner().invoke(app, ["demo", "--no-browser"])
    assert result.exit_code == 2
    assert "pip install 'estime-metric[demo]'" in result.output


def test_an_encoder_that_cannot_be_had() -> None:
    pytest.importorskip("gradio")
    result = CliRunner().invoke(app, ["demo", "--no-browser", "--model", "/no/such/folder"])
    assert result.exit_code == 2
    assert "The encoder /no/such/folder cannot be had here" in result.output


def test_a_port_that_is_taken() -> None:
    pytest.importorskip("gradio")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run([*COMMAND, "--port", port], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert port in done.stderr
    assert "Traceback" not in done.stderr
