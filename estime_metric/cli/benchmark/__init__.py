"""``estime benchmark ...``: experiments of papers and benchmarks on human judgements, one file for each."""

from __future__ import annotations

from estime_metric.cli.benchmark import aggrefact, coherence, frank, subtle_errors, summeval
from estime_metric.cli.console import add, make_app

app = make_app("benchmark", "The papers' experiments and benchmarks on human judgements, measured again.")
add(app, summeval.summeval)
add(app, frank.frank)
add(app, aggrefact.aggrefact)
add(app, subtle_errors.subtle_errors)
add(app, coherence.coherence)
