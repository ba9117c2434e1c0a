"""The demo of the installed wheel, started from an empty folder with its temporary folder
elsewhere.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.demo.buttons import press_every_button, served

ROOT = Path(__file__).resolve().parents[2]

START = """
import sys
from pathlib import Path
import estime_metric
assert Path(estime_metric.__file__).is_relative_to(sys.argv[1]), estime_metric.__file__
from estime_metric.demo.app import launch
launch()
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("gradio") is None, reason="there is no gradio")
def test_every_button_works_from_an_empty_folder(tmp_path: Path) -> None:
    source, site, empty = (tmp_path / name for name in ("source", "site", "empty"))
    for folder in (source, site, empty):
        folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "estime_metric", source / "estime_metric", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source)
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", *quiet, "-w", str(tmp_path), str(source)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", *quiet[:-1], "-t", str(site), str(wheel)], check=True)
    command = [sys.executable, "-c", START, str(site)]
    with served(command, empty, PYTHONPATH=str(site)) as url:
        pressed = press_every_button(url)
    assert sorted(pressed) == [
        "compare",
        "download",
        "explain",
        "score",
        "stop",
        "take-examples",
    ]
