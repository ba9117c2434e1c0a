"""What validation costs: the second epoch with a cache against the first, and two processes against one.

    python -m docs.benchmarks.epochs --model embedded-small --sources 20

Prints two tables. The texts are SummEval's where they are at hand, else made up of words at random in lengths like
theirs (sources of about 360 words, summaries of about 60). Loading the encoder is not counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch
from torch import distributed

from docs.benchmarks import common
from estime_metric import ESTIME

#: Pairs in one update, as a training loop validates them.
BATCH = 8


def seconds(metric: ESTIME, pairs: list[common.Pair]) -> float:
    """One validation."""
    start = time.perf_counter()
    for first in range(0, len(pairs), BATCH):
        some = pairs[first : first + BATCH]
        metric.update([summary for summary, _ in some], sources=[source for _, source in some])
    metric.compute()
    taken = time.perf_counter() - start
    metric.reset()
    return taken


def epochs(options: argparse.Namespace, pairs: list[common.Pair]) -> None:
    """First table: the first and the second epoch."""
    print("| summaries per source | pairs | cache | first epoch, s | second epoch, s | second / first |")
    print("|---|---|---|---|---|---|")
    for per_source in (16, 1):
        some = [pair for index, pair in enumerate(pairs) if index % 16 < per_source]
        with tempfile.TemporaryDirectory() as folder:
            for name, cache in (("none", None), ("memory", options.cache), ("folder", folder)):
                metric = ESTIME(model=options.model, cache=cache)
                _ = metric.signature
                first, second = seconds(metric, some), seconds(metric, some)
                share = f"{second / first:.3f}"
                print(f"| {per_source} | {len(some)} | {name} | {first:.2f} | {second:.2f} | {share} |", flush=True)


def worker(rank: int, processes: int, threads: int, model: str, shares: list[list[common.Pair]], folder: str) -> None:
    """One of several processes; the slowest counts."""
    torch.set_num_threads(threads)
    meeting = f"file://{Path(folder) / f'meeting-{processes}-{threads}'}"
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=processes)
    metric = ESTIME(model=model)
    _ = metric.signature
    distributed.barrier()
    taken = torch.tensor(seconds(metric, shares[rank]))
    distributed.all_reduce(taken, distributed.ReduceOp.MAX)
    (Path(folder) / "seconds").write_text(str(float(taken)))
    distributed.destroy_process_group()


def processes(options: argparse.Namespace, pairs: list[common.Pair]) -> None:
    """Second table: one process and two. Two that share the summaries of a source both encode that source."""
    print("\n| summaries per source | processes x threads | split | s | against one process on one thread |")
    print("|---|---|---|---|---|")
    for per_source in (16, 1):
        some = [pair for index, pair in enumerate(pairs) if index % 16 < per_source]
        half = len(some) // 32 * 16 if per_source == 16 else len(some) // 2
        one = 0.0
        for count, threads, split, shares in (
            (1, 1, "", [some]),
            (1, 2, "", [some]),
            (2, 1, "by source", [some[:half], some[half:]]),
            (2, 1, "by turns", [some[0::2], some[1::2]]),
        ):
            with tempfile.TemporaryDirectory() as folder:
                torch.multiprocessing.spawn(worker, (count, threads, options.model, shares, folder), nprocs=count)
                taken = float((Path(folder) / "seconds").read_text())
            one = one or taken
            print(f"| {per_source} | {count} x {threads} | {split} | {taken:.2f} | {taken / one:.3f} |", flush=True)


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="embedded-small")
    parser.add_argument("--sources", type=int, default=20)
    parser.add_argument("--cache", type=int, default=4 * 10**9, help="bytes of memory")
    common.add_summeval(parser)
    options = parser.parse_args()
    pairs, texts = common.pairs_of(options.summeval, options.sources)
    print(f"{texts}, {options.sources} sources, model {options.model}\n")
    epochs(options, pairs)
    processes(options, pairs)


if __name__ == "__main__":
    main()
