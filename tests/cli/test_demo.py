"""``estime demo``: what it refuses. That it serves the page is seen in tests/demo."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest

from estime_metric.demo.limits import Limits
from tests.command import run_command


def test_without_gradio_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "estime_metric.demo.app", raising=False)
    monkeypatch.setitem(sys.modules, "gradio", None)
    assert (
        "pip install 'estime-metric[demo]'" in run_command("demo", "--no-browser", status=2).output
    )


def test_an_encoder_that_cannot_be_loaded_and_a_port_that_is_taken() -> None:
    pytest.importorskip("gradio")
    shown = run_command("demo", "--no-browser", "--model", "/no/such/folder", status=2).output
    assert "The encoder /no/such/folder cannot be loaded:" in shown
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = run_command("demo", "--no-browser", "--port", port, status=2).output
    assert f"error: cannot listen on 127.0.0.1, port {port}" in shown


def test_limits_and_encoders_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    app = pytest.importorskip("estime_metric.demo.app")
    started: list[dict[str, Any]] = []
    monkeypatch.setattr(app, "launch", lambda models, **options: started.append(options))
    run_command("demo", "--no-browser")
    assert (started[-1]["limits"], started[-1]["any_model"]) == (Limits(), True)
    run_command(
        "demo",
        "--no-browser",
        "--max-pairs",
        "9000",
        "--max-tokens",
        "20000",
        "--max-seconds",
        "1e4",
    )
    assert started[-1]["limits"] == Limits(max_pairs=9000, max_tokens=20_000, max_seconds=1e4)
    for options in (["--share"], ["--host", "0.0.0.0"], ["--listed-models"]):
        run_command("demo", "--no-browser", *options)
        assert started[-1]["any_model"] is False
