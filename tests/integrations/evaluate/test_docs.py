"""What the documents show runs unchanged."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

evaluate = pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import register  # noqa: E402
from tests.integrations.evaluate.test_combined import UnigramRecall  # noqa: E402
from tests.pages import ROOT, blocks  # noqa: E402


@pytest.fixture(autouse=True)
def registered(evaluate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`evaluate.load("estime")` works, and the working folder is an empty one."""
    register()
    monkeypatch.chdir(tmp_path)


def block_with(page: str, part: str) -> str:
    """The Python block of a page that has some part."""
    (code,) = (
        block.code
        for block in blocks(ROOT / page)
        if block.language == "python" and part in block.code
    )
    return code


PRINTED = {
    "README.md": ["1.0 0.0754909"],
    "docs/evaluate.md": ["0.038\n", "0.5 [0.0, 1.0]\n"],
}


@pytest.mark.parametrize("page", PRINTED)
def test_a_newcomers_script(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = block_with(page, 'evaluate.load("estime")\nsource = ')
    exec(script, {"__name__": "__main__"})
    lines = capsys.readouterr().out.splitlines(keepends=True)
    for line, expected in zip(lines, PRINTED[page], strict=False):
        assert line.startswith(expected)
    assert lines[-1].startswith("ESTIME|model:embedded@")
    assert len(lines) == len(PRINTED[page]) + 1


def test_together_with_rouge(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A module with the inputs of ROUGE replaces it, because ROUGE needs the network."""
    script = block_with("docs/evaluate.md", "combine([")
    load = evaluate.load
    monkeypatch.setattr(
        evaluate, "load", lambda name: UnigramRecall() if name == "rouge" else load(name)
    )
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(script, scope)
    assert {"recall", "alarms", "copied_density"} <= set(scope["scores"])
    assert capsys.readouterr().out == "5.0\n"


def test_the_card() -> None:
    card, flags = ROOT / "hub_space" / "README.md", doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(card), module_relative=False, optionflags=flags)
    assert tried > 0
    assert failed == 0
