"""What a validation loop costs: epochs with a cache that holds all sources, or a share of them."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd

from estime_metric import ESTIME
from estime_metric.engine.cache import SourceCache
from estime_metric.engine.units import tokenize
from experiments.benchmarks.common import show
from experiments.speed.common import DATA, pairs_of

ARTICLES = 12
EPOCHS = 3
SHARES = (0.0, 0.5, 1.0)


def epochs(*, data: Path = DATA) -> None:
    """Epochs of validation with a cache of the sources, or of a share of them.

    Every epoch has other summaries of the same articles of BUMP, one per update. The settings
    alternate, so other programs of the machine slow all of them.
    """
    summaries, sources = pairs_of(data, ARTICLES, EPOCHS)
    scorer = ESTIME(device="cpu").scorer
    units = tokenize(sources[::EPOCHS], scorer.encoder.tokenizer)
    size = sum(len(source) * scorer.bytes_per_unit + source.nbytes for source in units)
    caches = {f"{share:.0%} fit": SourceCache(memory_bytes=int(share * size)) for share in SHARES}
    metrics = {name: ESTIME(device="cpu", cache=cache) for name, cache in caches.items()}
    for name, metric in metrics.items():  # the first use of a kernel is not counted
        metric.update(["A cat slept."], sources=["A cat slept in the sun."])
        caches[name].clear()
    rows = []
    for epoch in range(EPOCHS):
        for pair in zip(summaries[epoch::EPOCHS], sources[epoch::EPOCHS], strict=True):
            for name, metric in metrics.items():
                start = time.process_time()
                metric.update([pair[0]], sources=[pair[1]])
                rows.append((name, f"epoch {epoch + 1}, s", time.process_time() - start))
    table = pd.DataFrame(rows).groupby([0, 1])[2].sum().unstack()
    table["second / first"] = table["epoch 2, s"] / table["epoch 1, s"]
    show(f"{ARTICLES} articles of {size / 1e6:.0f} MB", table)
