"""What a validation loop costs: epochs with a cache that holds all sources, or a share of them."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd

from estime_metric import ESTIME
from estime_metric.engine.embedding import SourceCache
from estime_metric.engine.pairs import encode
from experiments.benchmarks.common import show
from experiments.speed.common import DATA, pairs_of

ARTICLES = 12
BATCH = 4  # pairs of an update
EPOCHS = 3
SHARES = (1.0, 0.5)


def epochs(*, data: Path = DATA) -> None:
    """Epochs of validation with a cache of the sources, or of a share of them.

    Every epoch has other summaries of the same articles of BUMP. The settings alternate within each
    epoch, update by update, so other programs of the machine slow all of them. Loading the encoder
    is not counted.
    """
    summaries, sources = pairs_of(data, ARTICLES, EPOCHS)
    without = ESTIME(device="cpu", cache=None)
    units = encode(sources[::EPOCHS], without.scorer.encoder.tokenizer)
    size = sum(len(ids) for ids, _ in units) * without.scorer.bytes_per_unit
    caches = {share: SourceCache(memory_bytes=int(share * size)) for share in SHARES}
    metrics = {0.0: without} | {
        share: ESTIME(device="cpu", cache=cache) for share, cache in caches.items()
    }
    for metric in metrics.values():  # the first use of a kernel is not counted
        metric.update(["A cat slept."], sources=["A cat slept in the sun."])
    for cache in caches.values():
        cache.clear()
    names = [f"epoch {number}, s" for number in range(1, EPOCHS + 1)]
    table = pd.DataFrame(0.0, index=list(metrics), columns=names)
    for epoch, name in enumerate(names):
        pairs = summaries[epoch::EPOCHS], sources[epoch::EPOCHS]
        for first in range(0, len(pairs[0]), BATCH):
            batch, its_sources = (texts[first : first + BATCH] for texts in pairs)
            for share, metric in metrics.items():
                start = time.process_time()
                metric.update(batch, sources=its_sources)
                table.loc[share, name] += time.process_time() - start
    table["first / without a cache"] = table[names[0]] / table.loc[0.0, names[0]]
    table["second / first"] = table[names[1]] / table[names[0]]
    table.index = [f"{share:.0%} fit" for share in table.index]
    show(f"{ARTICLES} articles of {size / 1e6:.0f} MB", table)
