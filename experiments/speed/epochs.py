"""What validation costs: the second epoch with a cache.

    python -m experiments.speed epochs --sources 20

Loading the encoder is not counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence

from estime_metric import ESTIME
from experiments.speed import common

OPTIONS = {
    "model": ("embedded", "encoder"),
    "sources": (20, "of SummEval"),
    "each": ([common.PER_SOURCE, 1], "summaries of each source"),
    "cache": (4 * 10**9, "bytes of memory"),
}

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


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    rows: list[tuple[object, ...]] = []
    for each in options.each:
        pairs, texts = common.pairs_of(options.summeval, options.sources, each)
        rows += epochs(options, each, pairs)
    title = f"{texts}, {options.sources} sources, model {options.model}"
    columns = ("pairs", "cache", "first epoch, s", "second epoch, s", "second / first")
    common.print_table(title, ("summaries of each source", *columns), rows)
