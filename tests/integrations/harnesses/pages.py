"""Runs the blocks of a page, in order, as a reader would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import estime_metric

_BLOCK = re.compile(r'^```(\w+)(?: title="(.*?)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)

ROOT = Path(estime_metric.__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "harnesses"


def run_page(name: str, folder: Path, **environment: str) -> list[str]:
    """Writes the blocks that have a title to files of that name, runs the others, Python and bash, in ``folder``.

    The examples that the page links to are copied there.

    The commands are those of this interpreter's environment, and so is the package: a reader has installed it.

    Returns:
        What each block printed.
    """
    path = [str(Path(sys.executable).parent), os.environ["PATH"]]
    env = {**os.environ, "PATH": os.pathsep.join(path), "HF_HUB_OFFLINE": "1", "COLUMNS": "200", **environment}
    env.pop("PYTHONPATH", None)
    printed = []
    text = (PAGES / name).read_text(encoding="utf-8")
    for example in set(re.findall(r"\(\.\./(examples/\w+\.py)\)", text)):
        shutil.copy(PAGES.parent / example, folder)
    for language, title, block in _BLOCK.findall(text):
        if title:
            (folder / title).write_text(block, encoding="utf-8")
            continue
        command = {"python": [sys.executable, "-c"], "bash": ["bash", "-euo", "pipefail", "-c"]}[language]
        done = subprocess.run([*command, block], cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        printed.append(done.stdout)
    return printed
