"""The command line, ``estime ...``: one small file for each command."""

from __future__ import annotations

import typer

from estime_metric._version import __version__
from estime_metric.cli import benchmark, compare, corrupt, demo, explain, meta_evaluate, register, score, verify

app = typer.Typer(
    name="estime",
    help="ESTIME: how consistent is a summary with its source?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("score")(score.score)
app.command("explain")(explain.explain)
app.command("demo")(demo.demo)
app.command("compare")(compare.compare)
app.command("corrupt")(corrupt.corrupt)
app.command("meta-evaluate")(meta_evaluate.meta_evaluate)
app.command("verify")(verify.verify)
app.command("register")(register.register)
app.add_typer(benchmark.app)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"estime-metric {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
    ),
) -> None:
    """The options that stand before a command."""
