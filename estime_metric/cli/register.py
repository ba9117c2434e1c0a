"""``estime register``: makes ``evaluate.load("estime")`` work on this machine."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from estime_metric.cli.console import say


def register(*, remove: Annotated[bool, Parameter(help="Take the module script out again.")] = False) -> None:
    """Install ESTIME for evaluate.load("estime"), with or without network.

    A small script that imports the installed package goes into evaluate's cache of modules; HF_HOME or HF_MODULES_CACHE
    say where that is. Exit status: 0, done, or nothing to remove; 2, it could not be done.
    """
    from estime_metric.integrations import evaluate  # imports torch: slow

    if remove:
        removed = evaluate.unregister()
        say("\n".join(f"removed {script}" for script in removed) or "nothing to remove")
    else:
        say(f'installed {evaluate.register()}\nevaluate.load("estime") now works from any folder')
