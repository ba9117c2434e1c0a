"""``estime benchmark ...``: the papers' experiments and benchmarks on human judgements, one file for
each.
"""

from __future__ import annotations

from estime_metric.cli.console import make_app
from estime_metric.studies.commands.benchmark import (
    aggrefact,
    bump,
    coherence,
    frank,
    subtle_errors,
    summedits,
    summeval,
    systems,
)

app = make_app(
    "benchmark", "Reproduce the papers' experiments and run benchmarks on human judgements."
)
app.command(bump.bump)
app.command(summedits.summedits)
app.command(aggrefact.aggrefact)
app.command(frank.frank)
app.command(summeval.summeval)
app.command(systems.systems)
app.command(subtle_errors.subtle_errors)
app.command(coherence.coherence)
