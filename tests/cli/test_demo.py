"""``estime demo``: what it refuses. That it serves the page is seen in tests/demo."""

from __future__ import annotations

import socket
import sys

import pytest

from tests.command import run_command

pytestmark = pytest.mark.slow


def test_without_gradio_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "estime_metric.demo.app", raising=False)
    monkeypatch.setitem(sys.modules, "gradio", None)
    assert (
        "pip install 'estime-metric[demo]'" in run_command("demo", "--no-browser", status=2).output
    )


def test_an_encoder_that_cannot_be_loaded_and_a_port_that_is_taken() -> None:
    """The loader's own messages, as other commands have them."""
    pytest.importorskip("gradio")
    for model, hint in (
        ("embeded", "Did you mean model='embedded'?"),
        ("/no/such", "no such folder"),
    ):
        shown = run_command("demo", "--no-browser", "--model", model, status=2).output
        assert hint in " ".join(shown.split())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = run_command("demo", "--no-browser", "--port", port, status=2).output
    assert f"bind on address ('127.0.0.1', {port})" in shown
