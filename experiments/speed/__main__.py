"""Times this package: ``python -m experiments.speed CASE``, in a clone.

Each case prints its machine and its tables. All but ``gpu`` count CPU seconds of one thread, which
other programs of the machine change little. ``experiments/speed/README.md`` has the figures.
"""

from __future__ import annotations

import sys
import warnings

import torch
import transformers
from cyclopts import App

from estime_metric.cli.console import run
from experiments.speed import common, epochs, gpu, host, limit, programs

app = App(name="python -m experiments.speed", help=__doc__, result_action="return_value")
for case in (programs.cost, programs.peers, limit.limit, epochs.epochs, host.host, gpu.gpu):
    app.command(case)


def main() -> int:
    """Runs a case of the process's arguments, and returns the exit status."""
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    print(common.machine(), flush=True)
    return run(app)


if __name__ == "__main__":
    sys.exit(main())
