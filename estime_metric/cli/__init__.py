"""The command line, ``estime ...``: one small file for each command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, metadata
from typing import NoReturn

from cyclopts import Group

from estime_metric._version import __version__
from estime_metric.cli import console


def _manual() -> str:
    """A line with the address of the documentation, which a released package has."""
    try:
        addresses = metadata("estime-metric").get_all("Project-URL", [])
    except PackageNotFoundError:  # run from a folder, without being installed
        return ""
    named = dict(address.split(", ", 1) for address in addresses)
    return f"Manual: {named['Documentation']}\n\n" if "Documentation" in named else ""


app = console.make_app(
    "estime",
    "ESTIME: estimate how consistent summaries are with their sources.\n\n"
    f"{_manual()}"
    "If a command fails, it prints a one-line message and exits with status 2. "
    f"Set {console.TRACEBACK}=1 to see the traceback.",
    version=f"estime-metric {__version__}",
)

#: Panel of the help -> its commands, in the order of use; each is imported when it is called.
COMMANDS = {
    "Scoring": {
        "score": "estime_metric.cli.score:score",
        "explain": "estime_metric.cli.explain:explain",
        "compare": "estime_metric.cli.compare:compare",
        "calibrate": "estime_metric.cli.calibrate:calibrate",
        "demo": "estime_metric.cli.demo:demo",
    },
    "Set-up": {
        "register": "estime_metric.cli.register:register",
        "verify": "estime_metric.cli.verify:verify",
        "cite": "estime_metric.cli.cite:cite",
    },
    "Research": {
        "benchmark": "estime_metric.studies.commands.benchmark:app",
        "meta-evaluate": "estime_metric.studies.commands.meta_evaluate:meta_evaluate",
        "coherence": "estime_metric.studies.commands.coherence:coherence",
        "corrupt": "estime_metric.studies.commands.corrupt:corrupt",
    },
}

for _panel, _commands in COMMANDS.items():
    _group = Group.create_ordered(_panel)
    for _number, (_name, _target) in enumerate(_commands.items()):
        app.command(_target, name=_name, group=_group, sort_key=_number)
app.register_install_completion_command(help="Install completion for the current shell.")
_flags = Group.create_ordered("Options")
for _name in ("--help", "--version", "--install-completion"):
    app[_name].group = _flags


#: What ``estime`` alone prints.
BEGINNING = """\
estime score --example                scores bundled example pairs, offline
estime score pairs.csv                scores your file (columns source, summary)
estime --help                         lists all commands"""


def main(tokens: Sequence[str] | None = None) -> NoReturn:
    """The command ``estime``; leaves the process with the command's exit status."""
    tokens = sys.argv[1:] if tokens is None else list(tokens)
    if not tokens:
        console.say(BEGINNING)
        sys.exit(0)
    if tokens[0] in app.help_flags:
        app.resolved_commands()  # imports them: the overview shows the first line of their help
    sys.exit(console.run(app, tokens))
