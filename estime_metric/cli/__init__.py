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
console.add(app, score.score)
console.add(app, explain.explain)
console.add(app, demo.demo)
console.add(app, compare.compare)
console.add(app, calibrate.calibrate)
console.add(app, corrupt.corrupt)
console.add(app, coherence.coherence)
console.add(app, meta_evaluate.meta_evaluate)
console.add(app, verify.verify)
console.add(app, register.register)
app.command(benchmark.app)
app.register_install_completion_command(help="Install completion for the shell in use.")


def main(tokens: Sequence[str] | None = None) -> NoReturn:
    """The command ``estime``; leaves the process with the command's exit status."""
    sys.exit(console.run(app, tokens))
