"""``python -m experiments.formula COMMAND``, in a clone."""

import sys

from estime_metric.cli.console import run
from experiments.formula.choice import app

if __name__ == "__main__":
    sys.exit(run(app))
