"""A Ray cluster that does not answer is named at once, where Ray itself would ask for more than a minute."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from estime_metric.integrations.ray import RayTeam
from tests.command import run_command
from tests.jobs.conftest import rows, write_jsonl

pytest.importorskip("ray")


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address that is taken, but where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def test_the_command_says_it_in_one_line(nobody: str, tmp_path: Path) -> None:
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(2))
    done = run_command("score", table, "-o", tmp_path / "out.csv", "--ray", nobody, "-m", "embedded-small", status=2)
    assert f"Expected a Ray cluster at {nobody}, but nothing answers there" in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_an_address_in_the_environment(nobody: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", f"ray://{nobody}")
    with pytest.raises(ConnectionError, match=f"cluster at {nobody}, but nothing answers"):
        RayTeam()
