"""The module script that `evaluate.load("estime")` finds."""

from __future__ import annotations

import hashlib
from pathlib import Path

from evaluate.loading import init_dynamic_modules

from estime_metric.table.output import write_text

#: What `register` installs, word for word ``hub_space/estime.py``.
SCRIPT = '''\
"""ESTIME for `evaluate.load`; the metric itself is in the package estime-metric."""

from estime_metric.integrations.evaluate import Estime  # From: estime-metric[evaluate]

__all__ = ["Estime"]
'''


def register() -> Path:
    """Installs the module script in evaluate's cache of modules, so that
    ``evaluate.load("estime")`` finds it.

    The cache is in the user's home folder, or in the folder that ``HF_HOME`` or
    ``HF_MODULES_CACHE`` sets. Returns the path of the script.

    Raises:
        OSError: the cache cannot be written.
    """
    # The folder in which `evaluate` looks for one of its own modules that it cannot get from the Hub.
    home = Path(init_dynamic_modules(), "metrics", "evaluate-metric--estime")
    script = home / hashlib.sha256(SCRIPT.encode()).hexdigest() / "estime.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    # In one step: a process that loads it at that moment sees all of it or nothing.
    write_text(script, SCRIPT)
    for folder in (home.parent, home, script.parent):
        (folder / "__init__.py").touch()
    return script
