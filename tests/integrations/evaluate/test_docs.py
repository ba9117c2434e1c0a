"""What the documents show runs as it stands."""

from __future__ import annotations

import doctest
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.evaluate.conftest import SCRIPT

evaluate = pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import register, unregister  # noqa: E402

ROOT = SCRIPT.parents[1]
GUIDE = ROOT / "docs" / "evaluate.md"
CARD = ROOT / "hub_space" / "README.md"

pytestmark = pytest.mark.usefixtures("registered")


@pytest.fixture
def registered(evaluate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`evaluate.load("estime")` works, and the working folder is an empty one."""
    register()
    monkeypatch.chdir(tmp_path)
    yield
    unregister()


def blocks(document: Path) -> list[str]:
    """The Python code blocks of a document."""
    return re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def scripts() -> list[Any]:
    """The blocks that need nothing but the package: those that give their own texts."""
    return [
        pytest.param(block, id=f"{document.name}-{number}")
        for document in (ROOT / "README.md", GUIDE)
        for number, block in enumerate(blocks(document))
        if "evaluate.load" in block and "source = " in block
    ]


@pytest.mark.parametrize("script", scripts())
def test_a_newcomers_script(script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "script.py"
    file.write_text(script, encoding="utf-8")
    runpy.run_path(str(file), run_name="__main__")
    printed = capsys.readouterr().out
    alarms, *_ = map(float, re.findall(r"\d+\.\d+", printed))
    assert "ESTIME|model:embedded@" in printed
    assert alarms >= 0


def test_the_card() -> None:
    failed, tried = doctest.testfile(
        str(CARD), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert tried > 0
    assert failed == 0
