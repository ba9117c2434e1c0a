"""``estime benchmark ...``: the papers' experiments, one file for each."""

from __future__ import annotations

import typer

from estime_metric.cli.benchmark import coherence, summeval

app = typer.Typer(
    name="benchmark",
    help="The papers' experiments, measured anew.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("coherence")(coherence.coherence)
app.command("summeval")(summeval.summeval)
