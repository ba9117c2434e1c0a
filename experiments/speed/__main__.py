"""Measures speed and memory: ``python -m experiments.speed CASE``, in a clone.

Each case prints its machine and its tables, as Markdown. The figures are on the page on speed and in
``experiments/speed/README.md``. ``--clock cpu`` counts CPU seconds of all threads, which other programs
of the machine change little.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import torch
import transformers

from experiments.speed import common, cost, epochs, growth, peak, peers, positions, rounding

CASES: dict[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module
    for module in (cost, peers, epochs, peak, positions, rounding, growth)
}


def make_parser() -> argparse.ArgumentParser:
    """A parser with a command for each case, which has the options in the ``OPTIONS`` of its module."""
    parser = argparse.ArgumentParser(prog="python -m experiments.speed", description=__doc__)
    cases = parser.add_subparsers(dest="case", required=True)
    for name, module in CASES.items():
        case = cases.add_parser(
            name,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        case.add_argument("--threads", type=int, help="threads of PyTorch (default: all cores)")
        case.add_argument("--clock", choices=("wall", "cpu"), default="wall")
        case.add_argument("--summeval", type=Path, default=common.SUMMEVAL, help="its folder")
        for option, (default, text) in module.OPTIONS.items():
            flag = f"--{option.replace('_', '-')}"
            several = isinstance(default, list)
            case.add_argument(
                flag,
                type=type(default[0]) if several else type(default),
                nargs="+" if several else None,
                default=default,
                help=text,
            )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a case; ``arguments`` in place of the process's."""
    options = make_parser().parse_args(arguments)
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    print(common.machine(), flush=True)
    CASES[options.case].run(options)


if __name__ == "__main__":
    main()
