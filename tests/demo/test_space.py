"""The Space's own folder: the script that it starts, its card, and what it installs."""

from __future__ import annotations

import gc
import re
import runpy
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest

from estime_metric import __version__

ROOT = Path(__file__).resolve().parents[2]
SPACE = ROOT / "hub_space"


@pytest.mark.slow
def test_it_starts_from_its_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    gradio = pytest.importorskip("gradio")
    pages: list[str] = []
    monkeypatch.chdir(SPACE)
    monkeypatch.syspath_prepend(SPACE)
    monkeypatch.setattr(
        gradio.Blocks, "launch", lambda blocks, **_: pages.append(str(blocks.get_config_file()))
    )
    monkeypatch.setattr(gradio.Blocks, "block_thread", lambda _: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Gradio leaves event loops open
        runpy.run_path("app.py", run_name="__main__")
        gc.collect()
    assert "estime-alarm" in pages[0]  # the page opens with an example explained


def test_the_card_names_the_script_and_this_gradio_and_it_installs_this_version() -> None:
    _, header, _ = (SPACE / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in header.splitlines() if re.match(r"\w+: \S", line))
    assert (SPACE / fields["app_file"]).is_file()
    assert fields["sdk"] == "gradio"
    major, *others = fields["sdk_version"].split(".")
    assert (major, len(others)) == (version("gradio").split(".")[0], 2)
    *_, package = (SPACE / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert package == f"estime-metric[evaluate,demo]=={__version__}"
