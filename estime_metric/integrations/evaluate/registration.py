"""Makes ``evaluate.load("estime")`` work on a machine, with or without network."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from evaluate.loading import init_dynamic_modules

#: The module script: what `register` installs, word for word ``hub_space/estime.py``.
SCRIPT = '''\
"""ESTIME for `evaluate.load`; the metric itself is in the package estime-metric."""

from estime_metric.integrations.evaluate import Estime  # From: estime-metric[evaluate]

__all__ = ["Estime"]
'''

#: Where `evaluate` looks for a module of its own that it cannot get from the Hub.
_FOLDER = ("metrics", "evaluate-metric--estime")


def register() -> Path:
    """Installs the module script in evaluate's cache of modules, so that ``evaluate.load("estime")`` finds it.

    The cache is that of the user, or where ``HF_HOME`` or ``HF_MODULES_CACHE`` says; it is the same from any folder.
    Registering again changes nothing but the script's date. `unregister` undoes it.

    Returns:
        The installed script.

    Raises:
        OSError: the cache cannot be written.
    """
    home = _home()
    script = _write(home / hashlib.sha256(SCRIPT.encode()).hexdigest() / "estime.py", SCRIPT)
    for folder in (home.parent, home, script.parent):
        if not (folder / "__init__.py").exists():
            _write(folder / "__init__.py", "")
    return script


def unregister() -> list[Path]:
    """Takes out what `register` installed, of this or another version of the package, and nothing else.

    Returns:
        The scripts that were taken out; none where none was installed.
    """
    home = _home()
    scripts = [script for script in sorted(home.glob("*/estime.py")) if _is_ours(script)]
    for script in scripts:
        shutil.rmtree(script.parent)
    if not any(home.glob("*/*.py")):
        shutil.rmtree(home, ignore_errors=True)
    return scripts


def _home() -> Path:
    return Path(init_dynamic_modules()).joinpath(*_FOLDER)


def _is_ours(script: Path) -> bool:
    return re.search(r"^from estime_metric\b", script.read_text(encoding="utf-8"), re.MULTILINE) is not None


def _write(path: Path, text: str) -> Path:
    """Writes a file in one step, so that a process that loads it at that moment sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with open(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)
    return path
