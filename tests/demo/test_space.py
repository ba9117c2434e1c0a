"""The Space's own folder: the script that it starts, what it asks to be installed, and the header of its card."""

from __future__ import annotations

import re
import sys
import urllib.request
from pathlib import Path

import pytest

from estime_metric import __version__
from tests.demo.serving import ROOT, free_port, serving

gradio = pytest.importorskip("gradio")

SPACE = ROOT / "hub_space"


@pytest.mark.slow
def test_it_starts_from_its_own_folder(tmp_path: Path) -> None:
    port = free_port()
    with serving([sys.executable, "app.py"], tmp_path, port, cwd=SPACE) as server:
        page = urllib.request.urlopen(server.url, timeout=30).read().decode("utf-8")
    assert "estime-alarm" in page  # the page opens with an example explained


def test_the_card_names_the_script_and_this_gradio() -> None:
    _, header, _ = (SPACE / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in header.splitlines() if re.match(r"\w+: \S", line))
    assert (SPACE / fields["app_file"]).is_file()
    assert fields["sdk"] == "gradio"
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["sdk_version"])
    assert fields["sdk_version"].split(".")[0] == gradio.__version__.split(".")[0]
    assert re.fullmatch(r'"3\.\d+"', fields["python_version"])


def test_what_it_installs_is_this_version_of_the_package_with_the_demo() -> None:
    *_, package = (SPACE / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert package == f"estime-metric[evaluate,demo]=={__version__}"
