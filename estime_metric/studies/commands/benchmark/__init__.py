"""``estime benchmark ...``: experiments of papers and benchmarks on human judgements, one file for
each.
"""

from __future__ import annotations

from estime_metric.cli.console import make_app
from estime_metric.studies.commands.benchmark import (
    aggrefact,
    coherence,
    frank,
    subtle_errors,
    summeval,
)

app = make_app(
    "benchmark", "The papers' experiments and benchmarks on human judgements, measured again."
)
app.command(summeval.summeval)
app.command(frank.frank)
app.command(aggrefact.aggrefact)
app.command(subtle_errors.subtle_errors)
app.command(coherence.coherence)
