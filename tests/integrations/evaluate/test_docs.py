"""What the documents show runs as it stands."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.evaluate.conftest import SCRIPT

evaluate = pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import register, unregister  # noqa: E402

ROOT = SCRIPT.parents[1]


@pytest.fixture(autouse=True)
def registered(
    evaluate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """`evaluate.load("estime")` works, and the working folder is an empty one."""
    register()
    monkeypatch.chdir(tmp_path)
    yield
    unregister()


def scripts() -> list[Any]:
    """The blocks that need nothing but the package: those that give their own texts."""
    return [
        pytest.param(block, id=page)
        for page in ("README.md", "docs/evaluate.md")
        for block in re.findall(
            r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S
        )
        if "evaluate.load" in block and "source = " in block
    ]


@pytest.mark.parametrize("script", scripts())
def test_a_newcomers_script(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(script, {"__name__": "__main__"})
    printed = capsys.readouterr().out
    alarms, *_ = map(float, re.findall(r"\d+\.\d+", printed))
    assert "ESTIME|model:embedded@" in printed
    assert alarms >= 0


def test_the_card() -> None:
    card, flags = ROOT / "hub_space" / "README.md", doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(card), module_relative=False, optionflags=flags)
    assert tried > 0
    assert failed == 0
