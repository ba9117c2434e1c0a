"""Makes ``evaluate.load("estime")`` work on a machine, with or without network."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from evaluate.loading import init_dynamic_modules

from estime_metric import files

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

    The cache is the user's, or where ``HF_HOME`` or ``HF_MODULES_CACHE`` says. `unregister` undoes it.

    Returns:
        The installed script.

    Raises:
        OSError: the cache cannot be written.
    """
    home = _home()
    script = home / hashlib.sha256(SCRIPT.encode()).hexdigest() / "estime.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(script, SCRIPT)  # in one step: a process that loads it at that moment sees all of it or nothing
    for folder in (home.parent, home, script.parent):
        (folder / "__init__.py").touch()
    return script


def unregister() -> list[Path]:
    """Removes what `register` installed, of this or another version of the package, and nothing else.

    Returns:
        The scripts that were removed; none where none was installed.
    """
    home = _home()
    ours = re.compile(r"^from estime_metric\b", re.MULTILINE)
    scripts = [script for script in sorted(home.glob("*/estime.py")) if ours.search(script.read_text(encoding="utf-8"))]
    for script in scripts:
        shutil.rmtree(script.parent)
    if not any(home.glob("*/*.py")):
        shutil.rmtree(home, ignore_errors=True)
    return scripts


def _home() -> Path:
    return Path(init_dynamic_modules()).joinpath(*_FOLDER)
