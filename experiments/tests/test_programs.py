"""What the programs say if they are started without their data."""

from __future__ import annotations

import runpy
import sys

import pytest


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("benchmarks", ["bump", "nowhere"]),
        ("formula", ["measure", "nowhere", "-m", "embedded-small", "-o", "parts"]),
        ("speed", ["cost", "--data", "nowhere"]),
    ],
)
@pytest.mark.filterwarnings("default")  # what `speed` sets ends with the test
def test_without_data_they_end_with_one_line_and_status_2(
    program: str,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"experiments.{program}", run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error: Expected '{'nowhere' if program == 'benchmarks' else 'nowhere/bump'}' to have task1_dataset.json."
    ]
