"""``estime register``: makes ``evaluate.load("estime")`` work on this machine."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from estime_metric.cli.console import say


def register(
    *, remove: Annotated[bool, Parameter(help="Remove the module script.")] = False
) -> None:
    """Install ESTIME for evaluate.load("estime"), with or without network.

    It writes a small script, which imports the installed package, into evaluate's module cache;
    HF_HOME or HF_MODULES_CACHE set where that is. Exit status: 0, done, or nothing to remove; 2,
    failed.
    """
    from estime_metric.integrations import evaluate  # imports torch: slow

    if remove:
        removed = evaluate.unregister()
        say("\n".join(f"removed {script}" for script in removed) or "nothing to remove")
    else:
        say(f'installed {evaluate.register()}\nevaluate.load("estime") now works from any folder')
