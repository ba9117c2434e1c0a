"""What validation costs: the second epoch with a cache, and two processes compared with one.

    python -m experiments.speed.epochs --summeval SUMMEVAL --sources 20

Prints two tables, by default with 16 summaries for each source and with one. Loading the encoder is not
counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import distributed
from torch.multiprocessing.spawn import spawn

from estime_metric import ESTIME
from experiments.speed import common

#: Pairs in one update, as a training loop validates them.
BATCH = 8


def seconds_of(metric: ESTIME, pairs: Sequence[common.Pair]) -> float:
    """The seconds of one validation."""
    start = time.perf_counter()
    for first in range(0, len(pairs), BATCH):
        summaries, sources = common.unzip(pairs[first : first + BATCH])
        metric.update(summaries, sources=sources)
    metric.compute()
    taken = time.perf_counter() - start
    metric.reset()
    return taken


def epochs(
    options: argparse.Namespace, each: int, pairs: Sequence[common.Pair]
) -> list[tuple[object, ...]]:
    """The rows of the first and the second epoch, without a cache, in memory, and in a folder."""
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, cache in (("none", None), ("memory", options.cache), ("folder", folder)):
            metric = ESTIME(model=options.model, cache=cache, measure="alarms", device="cpu")
            _ = metric.signature
            first, second = seconds_of(metric, pairs), seconds_of(metric, pairs)
            numbers = f"{first:.2f}", f"{second:.2f}", f"{second / first:.3f}"
            rows.append((each, len(pairs), name, *numbers))
    return rows


def worker(
    rank: int, processes: int, model: str, shares: Sequence[Sequence[common.Pair]], folder: str
) -> None:
    """One of several processes of one thread; the slowest counts."""
    torch.set_num_threads(1)
    meeting = f"file://{Path(folder) / 'meeting'}"
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=processes)
    metric = ESTIME(model=model, measure="alarms", device="cpu")
    _ = metric.signature
    distributed.barrier()
    taken = torch.tensor(seconds_of(metric, shares[rank]))
    distributed.all_reduce(taken, distributed.ReduceOp.MAX)
    (Path(folder) / "seconds").write_text(str(float(taken)))
    distributed.destroy_process_group()


def processes(
    options: argparse.Namespace, each: int, pairs: Sequence[common.Pair]
) -> list[tuple[object, ...]]:
    """The rows of one process and of two. Two that share the summaries of a source both encode it."""
    rows: list[tuple[object, ...]] = []
    half = len(pairs) // (2 * each) * each
    one = 0.0
    for split, shares in (
        ("", [pairs]),
        ("by source", [pairs[:half], pairs[half:]]),
        ("by turns", [pairs[0::2], pairs[1::2]]),
    ):
        with tempfile.TemporaryDirectory() as folder:
            given = len(shares), options.model, shares, folder
            spawn(worker, given, nprocs=len(shares))  # type: ignore[no-untyped-call]
            taken = float((Path(folder) / "seconds").read_text())
        one = one or taken
        rows.append((each, len(shares), split, f"{taken:.2f}", f"{taken / one:.3f}"))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` in place of the process's."""
    parser = common.arguments(
        __doc__, model="embedded-small", sources=20, cache=(4 * 10**9, "bytes of memory")
    )
    parser.add_argument(
        "--each",
        type=int,
        nargs="+",
        default=[common.PER_SOURCE, 1],
        help="summaries of each source",
    )
    common.add_summeval(parser)
    options = common.start(parser, arguments)
    some = {each: common.pairs_of(options.summeval, options.sources, each) for each in options.each}
    ((_, texts), *_) = some.values()
    title = f"{texts}, {options.sources} sources, model {options.model}"
    for table, columns in (
        (epochs, ("pairs", "cache", "first epoch, s", "second epoch, s", "second / first")),
        (processes, ("processes", "split", "s", "of one process")),
    ):
        rows = [row for each, (pairs, _) in some.items() for row in table(options, each, pairs)]
        common.print_table(title, ("summaries of each source", *columns), rows)


if __name__ == "__main__":
    main()
