"""``estime register``: makes ``evaluate.load("estime")`` work on this machine."""

from __future__ import annotations

from estime_metric.cli.console import say, say_wrote


def register() -> int:
    """Make evaluate.load("estime") work on this machine, even without network access.

    Writes a small script that imports the installed package to evaluate's module cache. HF_HOME or
    HF_MODULES_CACHE set the location of the cache.

    Exit status: 0 on success, 2 on failure.

    Example: estime register
    """
    from estime_metric.integrations import evaluate  # imports torch: slow

    say_wrote("the module script", evaluate.register())
    say('evaluate.load("estime") now works from any folder')
    return 0
