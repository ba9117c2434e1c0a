"""What a validation loop costs: epochs with a cache that holds all sources, or a share of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from estime_metric import ESTIME
from estime_metric.engine.embedding import SourceCache
from estime_metric.engine.pairs import encode
from experiments.speed import common

SOURCES = 24  # of SummEval
BATCH = 4  # pairs of an update
EPOCHS = 3
SHARES = (1.0, 0.75, 0.5, 0.25)


def time_epochs(
    metrics: Sequence[ESTIME], epochs: Sequence[Sequence[common.Pair]]
) -> list[list[float]]:
    """The seconds of each metric in each epoch."""
    seconds = [[0.0] * len(epochs) for _ in metrics]
    for epoch, pairs in enumerate(epochs):
        for first in range(0, len(pairs), BATCH):
            summaries, sources = common.unzip(pairs[first : first + BATCH])
            for number, metric in enumerate(metrics):
                start = time.process_time()
                metric.update(summaries, sources=sources)
                seconds[number][epoch] += time.process_time() - start
        for metric in metrics:
            metric.reset()
    return seconds


def epochs(*, data: Path = common.DATA) -> None:
    """Epochs of validation with a cache of the sources, or of a share of them.

    Every epoch has the summaries of another system of SummEval. The settings alternate within each
    epoch, update by update, so other programs of the machine slow all of them. Loading the encoder
    is not counted.
    """
    pairs = common.pairs_of(data, SOURCES, EPOCHS)
    pairs_of_epochs = [pairs[system::EPOCHS] for system in range(EPOCHS)]
    without = ESTIME(device="cpu", cache=None)
    units = encode(common.unzip(pairs_of_epochs[0])[1], without.scorer.encoder.tokenizer)
    size = sum(len(ids) for ids, _ in units) * without.scorer.bytes_per_unit
    caches = [SourceCache(memory_bytes=int(share * size)) for share in SHARES]
    metrics = [without, *(ESTIME(device="cpu", cache=cache) for cache in caches)]
    for metric in metrics:  # the first use of a kernel is not counted
        metric.update(["A cat slept."], sources=["A cat slept in the sun."])
    for cache in caches:
        cache.clear()
    seconds = time_epochs(metrics, pairs_of_epochs)
    cached = seconds[1][1] / seconds[1][0]
    rows = []
    for share, own in zip((0.0, *SHARES), seconds, strict=True):
        rows.append(
            {
                "cache": f"holds {share:.0%}" if share else "none",
                **{f"epoch {number}, s": f"{taken:.2f}" for number, taken in enumerate(own, 1)},
                "epoch 1 / without a cache": f"{own[0] / seconds[0][0]:.3f}",
                "epoch 2 / epoch 1": f"{own[1] / own[0]:.3f}",
                "by its share": f"{1 - share + share * cached:.3f}",
            }
        )
    common.print_table(f"SummEval, {SOURCES} sources of {size / 1e6:.0f} MB", rows)
