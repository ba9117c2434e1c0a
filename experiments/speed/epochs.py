"""What a validation loop costs: epochs with a cache that holds all sources, or a share of them.

    python -m experiments.speed epochs --threads 1 --clock cpu

Every epoch has the summaries of another system of SummEval. The settings alternate within each epoch,
update by update, so other programs of the machine slow all of them. Loading the encoder is not counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from estime_metric import ESTIME
from estime_metric.engine.cache import SourceCache
from estime_metric.engine.text.units import encode
from experiments.speed import common

OPTIONS = {
    "model": ("embedded", "encoder"),
    "sources": (24, "of SummEval"),
    "batch": (4, "pairs in an update"),
}

EPOCHS = 3
SHARES = (1.0, 0.75, 0.5, 0.25)


def time_epochs(
    metrics: Sequence[ESTIME], epochs: Sequence[Sequence[common.Pair]], batch: int, clock: str
) -> list[list[float]]:
    """The seconds of each metric in each epoch."""
    now = common.clock(clock)
    seconds = [[0.0] * len(epochs) for _ in metrics]
    for epoch, pairs in enumerate(epochs):
        for first in range(0, len(pairs), batch):
            summaries, sources = common.unzip(pairs[first : first + batch])
            for number, metric in enumerate(metrics):
                start = now()
                metric.update(summaries, sources=sources)
                seconds[number][epoch] += now() - start
        for metric in metrics:
            metric.reset()
    return seconds


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    pairs, texts = common.pairs_of(options.summeval, options.sources, EPOCHS)
    epochs = [pairs[system::EPOCHS] for system in range(EPOCHS)]
    names = ["none", *(f"holds {share:.0%}" for share in SHARES)]
    common_options = {"model": options.model, "measure": "inconsistency", "device": "cpu"}
    without = ESTIME(**common_options, cache=None)
    texts_ids = encode(common.unzip(epochs[0])[1], without.scorer.encoder.tokenizer)
    size = sum(len(ids) for ids, _ in texts_ids) * without.scorer.bytes_per_unit
    caches = [SourceCache(memory_bytes=int(share * size)) for share in SHARES]
    metrics = [without, *(ESTIME(**common_options, cache=cache) for cache in caches)]
    for metric in metrics:  # the first use of a kernel is not counted
        metric.update(["A cat slept."], sources=["A cat slept in the sun."])
    for cache in caches:
        cache.clear()
    seconds = time_epochs(metrics, epochs, options.batch, options.clock)
    cached = seconds[1][1] / seconds[1][0]
    rows = []
    for name, share, own in zip(names, (0.0, *SHARES), seconds, strict=True):
        ratios = [own[0] / seconds[0][0], *(later / own[0] for later in own[1:])]
        expected = 1 - share + share * cached
        numbers = *(f"{taken:.2f}" for taken in own), *(f"{ratio:.3f}" for ratio in ratios)
        rows.append((name, *numbers, f"{expected:.3f}"))
    title = f"{texts}, {options.sources} sources of {size / 1e6:.0f} MB, model {options.model}"
    columns = (
        *("cache", *(f"epoch {number}, s" for number in (1, 2, 3))),
        *("epoch 1 / without a cache", "epoch 2 / epoch 1", "epoch 3 / epoch 1", "by its share"),
    )
    common.print_table(title, columns, rows)
