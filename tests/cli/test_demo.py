"""``estime demo``: what it refuses. That it serves the page is seen in tests/demo."""

from __future__ import annotations

import socket
import sys

import pytest

from tests.command import run_command


def test_without_gradio_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "estime_metric.demo.app", raising=False)
    monkeypatch.setitem(sys.modules, "gradio", None)
    result = run_command("demo", "--no-browser", status=2)
    assert "pip install 'estime-metric[demo]'" in result.output


def test_an_encoder_that_cannot_be_had() -> None:
    pytest.importorskip("gradio")
    result = run_command("demo", "--no-browser", "--model", "/no/such/folder", status=2)
    assert "The encoder /no/such/folder cannot be had here" in result.output


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = run_command("demo", "--no-browser", "--port", port, status=2)
    assert f"error: cannot listen on 127.0.0.1, port {port}" in result.output
