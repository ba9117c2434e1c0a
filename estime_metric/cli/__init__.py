"""The command line, ``estime ...``: one small file for each command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from estime_metric._version import __version__
from estime_metric.cli import (
    calibrate,
    cite,
    compare,
    console,
    curve,
    demo,
    explain,
    models,
    register,
    score,
    verify,
)

app = console.make_app(
    "estime",
    "ESTIME: estimate how consistent summaries are with their sources.\n\n"
    "If a command fails, it prints a one-line message and exits with status 2. "
    f"Set {console.TRACEBACK}=1 to see the traceback.",
    version=f"estime-metric {__version__}",
)
app.command(score.score)
app.command(explain.explain)
app.command(demo.demo)
app.command(compare.compare)
app.command(calibrate.calibrate)
app.command(curve.curve)
app.command(models.models)
app.command(verify.verify)
app.command(register.register)
app.command(cite.cite)
app.register_install_completion_command(help="Install completion for the current shell.")

#: The commands of the studies by name; each is imported when it is called.
STUDIES = {
    "benchmark": "estime_metric.studies.commands.benchmark:app",
    "coherence": "estime_metric.studies.commands.coherence:coherence",
    "corrupt": "estime_metric.studies.commands.corrupt:corrupt",
    "meta-evaluate": "estime_metric.studies.commands.meta_evaluate:meta_evaluate",
}
for _name, _target in STUDIES.items():
    app.command(_target, name=_name)


#: What ``estime`` alone prints.
BEGINNING = """\
estime score --example                scores bundled example pairs, offline
estime score pairs.csv                scores your file (columns source, summary)
estime --help                         lists all commands"""


def main(tokens: Sequence[str] | None = None) -> NoReturn:
    """The command ``estime``; leaves the process with the command's exit status."""
    given = sys.argv[1:] if tokens is None else list(tokens)
    if not given:
        console.say(BEGINNING)
        sys.exit(0)
    if given[0].startswith("-"):
        for name in STUDIES:
            app[name]  # imports it: the overview shows the first line of its help
    sys.exit(console.run(app, given))
