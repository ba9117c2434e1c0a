"""Runs benchmarks on human judgements: ``python -m experiments.benchmarks NAME DATA``, in a clone."""

import sys

from estime_metric.cli.console import make_app, run
from experiments.benchmarks.aggrefact import aggrefact
from experiments.benchmarks.bump import bump
from experiments.benchmarks.frank import frank
from experiments.benchmarks.gate import gate
from experiments.benchmarks.limits import limits
from experiments.benchmarks.power import power_of_a_curve
from experiments.benchmarks.ragtruth import ragtruth
from experiments.benchmarks.summedits import summedits
from experiments.benchmarks.systems import systems

app = make_app(
    "python -m experiments.benchmarks",
    "Run benchmarks on human judgements.\n\nExit status: 0, or 2 on failure.",
)
for command in (bump, frank, aggrefact, summedits, ragtruth, limits, systems, gate):
    app.command(command)
app.command(power_of_a_curve, name="power")

if __name__ == "__main__":
    sys.exit(run(app))
