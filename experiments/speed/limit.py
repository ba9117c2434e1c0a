"""What bounds the cost of a CPU: how fast its linear maps run, and which positions are encoded."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import linear

from estime_metric import EstimeScorer
from estime_metric.engine.encoder import masked, own
from estime_metric.engine.masking import (
    MaskedText,
    SpecialTokens,
    TextWindow,
    WindowBatch,
    assemble,
    text_windows,
)
from experiments.benchmarks.common import show
from experiments.speed.common import DATA, pairs_of

ARTICLES = 12
ROUNDS = 20

#: Rows, inputs and outputs of the maps of a base-size block: a batch of windows.
PRODUCTS = ((2_000, 768, 768), (2_000, 768, 3_072), (2_000, 3_072, 768))


def limit(*, data: Path = DATA, articles: int = ARTICLES) -> None:
    """GFLOP/s of the linear maps while pairs are scored and of single products, and the shares of
    positions that are padding or overlap.

    The pairs are CNN/DailyMail articles of BUMP with their reference summaries. Overlap is what
    windows of texts longer than one repeat: each pass encodes it again as context. Where linear maps
    are packed, the first figure is missing.
    """
    summaries, sources = pairs_of(data, articles, 1)
    scorer = EstimeScorer(device="cpu")
    scorer.score(summaries[:1], sources[:1])
    with counted() as counts:
        start = time.process_time()
        scorer.score(summaries, sources)
        counts["seconds"] = time.process_time() - start
    figures: dict[str, float] = {
        "CPU seconds of a pair": counts["seconds"] / articles,
        "share of it in linear maps": counts["in maps"] / counts["seconds"],
        "GFLOP/s of linear maps": counts["operations"] / 1e9 / (counts["in maps"] or torch.nan),
    }
    figures |= {
        f"GFLOP/s of a product {' x '.join(map(str, shape))}": product(*shape) for shape in PRODUCTS
    }
    figures |= {
        "padding, share of positions": counts["padding"] / counts["positions"],
        "overlap, share of the positions of long texts": 1 - counts["once"] / counts["in long"],
    }
    show(f"{articles} pairs of BUMP, embedded, float32", pd.Series(figures).to_frame("figure"), 3)


@contextmanager
def counted() -> Iterator[dict[str, float]]:
    """Counts operations and seconds of linear maps, and positions of batches."""
    counts: dict[str, float] = defaultdict(float)

    def multiply(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        start = time.process_time()
        result = linear(states, weight, bias)
        counts["in maps"] += time.process_time() - start
        counts["operations"] += 2 * states.numel() * len(weight)
        return result

    def assembled(windows: Sequence[TextWindow], special: SpecialTokens) -> WindowBatch:
        batch = assemble(windows, special)
        counts["positions"] += batch.ids.numel()
        if batch.attended is not None:
            counts["padding"] += int((~batch.attended).sum())
        return batch

    def windows_of(texts: Sequence[MaskedText]) -> list[TextWindow]:
        for text in texts:
            passes = sum(window.start == 0 for window in text.windows)
            if passes < len(text.windows):
                counts["in long"] += sum(map(len, text.windows))
                counts["once"] += passes * len(text.ids)
        return text_windows(texts)

    with (
        patch.object(own, "linear", multiply),
        patch.object(masked, "assemble", assembled),
        patch.object(masked, "text_windows", windows_of),
    ):
        yield counts


def product(rows: int, inputs: int, outputs: int) -> float:
    """GFLOP/s of one product of PyTorch in float32, the median."""
    states, weight, bias = (
        torch.rand(rows, inputs),
        torch.rand(outputs, inputs),
        torch.rand(outputs),
    )
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        linear(states, weight, bias)
        seconds.append(time.process_time() - start)
    return 2 * rows * inputs * outputs / 1e9 / float(np.median(seconds))
