"""Measures speed and memory: ``python -m experiments.speed CASE``, in a clone.

Each case prints its machine and its tables, as Markdown. The figures are on the page on speed and in
``experiments/speed/README.md``. ``--clock cpu`` counts CPU seconds of all threads, which other programs
of the machine change little.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers

from experiments.speed import common, epochs, growth, peak, programs, rounding


class Case(NamedTuple):
    """A case: its description, its options (name -> default and help), and what prints its tables."""

    description: str | None
    options: Mapping[str, tuple[Any, str]]
    run: Callable[[argparse.Namespace], None]


CASES = {
    "cost": Case(programs.__doc__, programs.COST, programs.cost),
    "peers": Case(programs.__doc__, programs.PEERS, programs.peers),
    **{
        module.__name__.rpartition(".")[2]: Case(module.__doc__, module.OPTIONS, module.run)
        for module in (epochs, peak, rounding, growth)
    },
}


def make_parser() -> argparse.ArgumentParser:
    """A parser with a command for each case."""
    parser = argparse.ArgumentParser(prog="python -m experiments.speed", description=__doc__)
    commands = parser.add_subparsers(dest="case", required=True)
    for name, case in CASES.items():
        command = commands.add_parser(
            name,
            description=case.description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("--threads", type=int, help="threads of PyTorch (default: all cores)")
        command.add_argument("--clock", choices=("wall", "cpu"), default="wall")
        command.add_argument("--summeval", type=Path, default=common.SUMMEVAL, help="its folder")
        for option, (default, text) in case.options.items():
            several = isinstance(default, list)
            command.add_argument(
                f"--{option}",
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
