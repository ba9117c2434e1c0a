"""What the guide shows runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from estime_metric.cli import app

DOCS = Path(__file__).resolve().parents[3] / "docs"
GUIDE = (DOCS / "subtle-errors.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_guides_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, object] = {}
    first, second = blocks("python")
    exec(first, scope)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] != "The town council voted on Tuesday to close the old iron bridge to cars."
    assert len(printed) == 4
    exec(second, scope)
    assert capsys.readouterr().out.strip() == "[1, 0, 0]"


def test_the_guides_commands_are_there() -> None:
    for line in "".join(blocks("sh")).splitlines():
        words = line.split()
        assert words[0] == "estime"
        _, command, _ = app.parse_commands(words[1:])
        known = {name for option in command[-1].assemble_argument_collection() for name in option.names}
        assert {word for word in words[1:] if word.startswith("-")} <= known
