"""``estime benchmark ...``: the papers' experiments, one file for each."""

from __future__ import annotations

from estime_metric.cli.benchmark import coherence, subtle_errors, summeval
from estime_metric.cli.console import add, make_app

app = make_app("benchmark", "The papers' experiments, measured anew.")
add(app, summeval.summeval)
add(app, subtle_errors.subtle_errors)
add(app, coherence.coherence)
