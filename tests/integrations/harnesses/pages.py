"""Runs the blocks of a section of a page, in order, as a reader would."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from glob import glob
from importlib.metadata import entry_points
from pathlib import Path

from estime_metric import embedded
from tests.command import FORKS, one_thread
from tests.pages import ROOT

_BLOCK = re.compile(r'^```(\w+)(?: title="(.*?)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)


def run_section(
    page: str, heading: str, folder: Path, prepare: Callable[[], object] = dict, **environment: str
) -> list[str]:
    """What each block of a section prints that is run in ``folder``, in a separate process, after
    ``prepare``.

    The files of docs/examples are there too, and blocks that have a title are written to files of
    that name. The encoder ``embedded`` is the small one there.
    """
    shutil.copytree(ROOT / "docs" / "examples", folder, dirs_exist_ok=True)
    printed: list[str] = []
    for language, title, block in _BLOCK.findall(section_of(page, heading)):
        if title:
            (folder / title).write_text(block, encoding="utf-8")
            continue
        shown = folder / f"printed{len(printed)}"
        process = FORKS.Process(
            target=_run, args=(language, block, folder, shown, prepare, environment)
        )
        process.start()
        process.join()
        printed.append(shown.read_text(encoding="utf-8"))
        assert process.exitcode == 0, block + printed[-1] + (folder / "said").read_text("utf-8")
    return printed


def section_of(page: str, heading: str) -> str:
    """The text of a section of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def _run(
    language: str,
    block: str,
    folder: Path,
    shown: Path,
    prepare: Callable[[], object],
    environment: dict[str, str],
) -> None:
    import huggingface_hub.constants

    embedded.PATHS["embedded"] = embedded.SMALL
    huggingface_hub.constants.HF_HUB_OFFLINE = True
    os.environ.update({"HF_HUB_OFFLINE": "1", "COLUMNS": "200", **environment})
    os.chdir(folder)
    root = str(ROOT)  # behind the installed packages, so that ours is seen to be installed
    sys.path[:] = [str(folder), *(path for path in sys.path if path not in ("", root)), root]
    one_thread()
    for stream, path in ((1, shown), (2, folder / "said")):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    prepare()
    if language == "python":
        exec(block, {"__name__": "__main__"})
        return
    words = shlex.split(
        block.replace("\\\n", " ")
    )  # a single command, which needs nothing else of a shell
    while "=" in words[0]:
        os.environ.update([words.pop(0).split("=", 1)])
    sys.argv = [name for word in words for name in sorted(glob(word)) or [word]]
    (command,) = entry_points(group="console_scripts", name=sys.argv[0])
    sys.exit(command.load()())
