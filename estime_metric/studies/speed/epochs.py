"""What validation costs: the second epoch with a cache against the first, and two processes against
one.

    python -m estime_metric.studies.speed.epochs --model embedded-small --sources 20

Prints two tables. The texts are SummEval's if you have it, else made up of words at random in
lengths like theirs (sources of about 360 words, summaries of about 60). Loading the encoder is not
counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch
from torch import distributed

from estime_metric import ESTIME
from estime_metric.studies.speed import common

#: Pairs in one update, as a training loop validates them.
BATCH = 8


def seconds(metric: ESTIME, pairs: list[common.Pair]) -> float:
    """One validation."""
    start = time.perf_counter()
    for first in range(0, len(pairs), BATCH):
        summaries, sources = common.unzip(pairs[first : first + BATCH])
        metric.update(summaries, sources=sources)
    metric.compute()
    taken = time.perf_counter() - start
    metric.reset()
    return taken


def epochs(
    options: argparse.Namespace, per_source: int, pairs: list[common.Pair]
) -> list[tuple[object, ...]]:
    """The first and the second epoch."""
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, cache in (("none", None), ("memory", options.cache), ("folder", folder)):
            metric = ESTIME(model=options.model, cache=cache, measure="alarms")
            _ = metric.signature
            first, second = seconds(metric, pairs), seconds(metric, pairs)
            rows.append(
                (
                    per_source,
                    len(pairs),
                    name,
                    f"{first:.2f}",
                    f"{second:.2f}",
                    f"{second / first:.3f}",
                )
            )
    return rows


def worker(
    rank: int,
    processes: int,
    threads: int,
    model: str,
    shares: list[list[common.Pair]],
    folder: str,
) -> None:
    """One of several processes; the slowest counts."""
    torch.set_num_threads(threads)
    meeting = f"file://{Path(folder) / f'meeting-{processes}-{threads}'}"
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=processes)
    metric = ESTIME(model=model, measure="alarms")
    _ = metric.signature
    distributed.barrier()
    taken = torch.tensor(seconds(metric, shares[rank]))
    distributed.all_reduce(taken, distributed.ReduceOp.MAX)
    (Path(folder) / "seconds").write_text(str(float(taken)))
    distributed.destroy_process_group()


def processes(
    options: argparse.Namespace, per_source: int, pairs: list[common.Pair]
) -> list[tuple[object, ...]]:
    """One process and two. Two that share the summaries of a source both encode that source."""
    rows: list[tuple[object, ...]] = []
    half = len(pairs) // (2 * per_source) * per_source
    one = 0.0
    for count, threads, split, shares in (
        (1, 1, "", [pairs]),
        (1, 2, "", [pairs]),
        (2, 1, "by source", [pairs[:half], pairs[half:]]),
        (2, 1, "by turns", [pairs[0::2], pairs[1::2]]),
    ):
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(
                worker, (count, threads, options.model, shares, folder), nprocs=count
            )
            taken = float((Path(folder) / "seconds").read_text())
        one = one or taken
        rows.append(
            (per_source, f"{count} x {threads}", split, f"{taken:.2f}", f"{taken / one:.3f}")
        )
    return rows


def main() -> None:
    parser = common.arguments(
        __doc__, model="embedded-small", sources=20, cache=(4 * 10**9, "bytes of memory")
    )
    common.add_summeval(parser)
    options = common.start(parser)
    some = {
        each: common.pairs_of(options.summeval, options.sources, each)
        for each in (common.PER_SOURCE, 1)
    }
    title = f"{some[1][1]}, {options.sources} sources, model {options.model}"
    for table, columns in (
        (epochs, ("pairs", "cache", "first epoch, s", "second epoch, s", "second / first")),
        (processes, ("processes x threads", "split", "s", "against one process on one thread")),
    ):
        rows = [row for each, (pairs, _) in some.items() for row in table(options, each, pairs)]
        common.print_table(title, ("summaries per source", *columns), rows)


if __name__ == "__main__":
    main()
