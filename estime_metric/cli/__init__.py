"""The command line, ``estime ...``: one small file for each command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from estime_metric._version import __version__
from estime_metric.cli import (
    benchmark,
    calibrate,
    coherence,
    compare,
    console,
    corrupt,
    demo,
    explain,
    meta_evaluate,
    register,
    score,
    verify,
)

app = console.make_app(
    "estime",
    "ESTIME: how consistent is a summary with its source?\n\n"
    f"Errors are one line and exit status 2; with {console.TRACEBACK}=1 in the environment they show their traceback.",
    version=f"estime-metric {__version__}",
)
for _command in (
    score.score, explain.explain, demo.demo, compare.compare, calibrate.calibrate, corrupt.corrupt, coherence.coherence,
    meta_evaluate.meta_evaluate, verify.verify, register.register,
):  # fmt: skip
    console.add(app, _command)
app.command(benchmark.app)
app.register_install_completion_command(help="Install completion for the shell in use.")


def main(tokens: Sequence[str] | None = None) -> NoReturn:
    """The command ``estime``; leaves the process with the command's exit status."""
    sys.exit(console.run(app, tokens))
