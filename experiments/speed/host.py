"""What the host does while a GPU waits: tokenizing, planning, wording, statistics, in CPU time."""

from __future__ import annotations

import cProfile
import pstats
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import tokenizers
import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode

from estime_metric import ESTIME, EstimeScorer, embedded
from estime_metric.engine import matching
from estime_metric.engine.encoder.foreign import ForeignLayers
from experiments.benchmarks.common import show
from experiments.speed.common import DATA, Pairs, frank_pairs

#: Pairs, pairs in an update, runs of everything after one that does not count.
PAIRS, BATCH, ROUNDS = 400, 16, 5

#: What a GPU does instead: the forward passes and the products of the embeddings.
OF_THE_DEVICE = ((ForeignLayers, "read"), (matching, "match"))

WIDTH = 32


def host(*, data: Path = DATA, pairs: int = PAIRS) -> None:
    """The host's share in scoring pairs of FRANK, as a multiple of tokenizing their texts.

    The encoder has one block of width 32, and the tokenizer of the bundled encoders. The second
    column excludes forward passes and products. The third counts operations of torch per pair,
    without views.
    """
    texts = frank_pairs(data, pairs)
    with tiny_encoder() as folder:
        options: dict[str, Any] = {"model": folder, "layers": 1, "distance": 2, "device": "cpu"}
        scorer, metric = EstimeScorer(**options), ESTIME(**options, cache=10**9)
        runs: dict[str, Callable[[], object]] = {
            "score, all pairs in one call": lambda: scorer.score(*texts),
            f"update with {BATCH} pairs, first epoch": lambda: first_epoch(metric, texts),
            f"update with {BATCH} pairs, later epochs": lambda: epoch(metric, texts),
        }
        seconds = pd.DataFrame(_seconds(runs, texts) for _ in range(ROUNDS + 1)).iloc[1:].median()
        operations = {name: count_operations(run) / len(texts[0]) for name, run in runs.items()}
        table = pd.DataFrame(
            {
                "all": {name: seconds[name] for name in runs},
                "without the device's": {name: seconds[f"{name}, host"] for name in runs},
            }
        )
        table /= seconds["tokenizing"]
        table["operations per pair"] = pd.Series(operations)
        show(
            f"CPU time of {len(texts[0])} pairs of FRANK; tokenizing their texts takes "
            f"{seconds['tokenizing'] * 1000 / len(texts[0]):.2f} ms per pair and counts 1",
            table,
            1,
        )
        for name, run in runs.items():
            show(f"The most expensive functions: {name}", most_expensive(run), 2)


def epoch(metric: ESTIME, pairs: Pairs) -> None:
    """A validation epoch."""
    metric.reset()
    for start in range(0, len(pairs[0]), BATCH):
        summaries, sources = (texts[start : start + BATCH] for texts in pairs)
        metric.update(summaries, sources=sources)
    metric.compute()


def first_epoch(metric: ESTIME, pairs: Pairs) -> None:
    """A validation epoch without cached sources."""
    assert metric.source_cache is not None
    metric.source_cache.clear()
    epoch(metric, pairs)


def _seconds(runs: dict[str, Callable[[], object]], pairs: Pairs) -> dict[str, float]:
    """CPU seconds of tokenizing and of each run, with and without what a GPU does."""
    tokenizer = tokenizers.Tokenizer.from_file(f"{embedded.SMALL}/tokenizer.json")
    texts = sorted({*pairs[0], *pairs[1]})
    start = time.process_time()
    tokenizer.encode_batch(texts, add_special_tokens=False)
    seconds = {"tokenizing": time.process_time() - start}
    for name, run in runs.items():
        with timed(OF_THE_DEVICE) as of_the_device:
            start = time.process_time()
            run()
            seconds[name] = time.process_time() - start
        seconds[f"{name}, host"] = seconds[name] - sum(of_the_device)
    return seconds


@contextmanager
def timed(functions: tuple[tuple[Any, str], ...]) -> Iterator[list[float]]:
    """Yields a list of the CPU seconds of each call of some functions, by owner and name."""
    seconds: list[float] = []

    def timing(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            start = time.process_time()
            result = function(*arguments, **named)
            seconds.append(time.process_time() - start)
            return result

        return call

    originals = [(owner, name, getattr(owner, name)) for owner, name in functions]
    for owner, name, original in originals:
        setattr(owner, name, timing(original))
    try:
        yield seconds
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


class _Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the operations of torch, without views, by name."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counts: dict[str, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not func.is_view:
            name = str(func.overloadpacket)
            self.counts[name] = self.counts.get(name, 0) + 1
        return func(*args, **(kwargs or {}))


def count_operations(run: Callable[[], object]) -> int:
    """How many operations of torch a run needs, without views."""
    with _Counter() as counter:
        run()
    return sum(counter.counts.values())


def most_expensive(run: Callable[[], object], number: int = 5) -> pd.DataFrame:
    """The functions that take most of a run themselves, as fractions of its time."""
    profile = cProfile.Profile(time.process_time)
    profile.runcall(run)
    stats: Any = pstats.Stats(profile)
    rows = [
        (f"{Path(file).name}:{line} {name}", own / stats.total_tt, calls)
        for (file, line, name), (_, calls, own, _, _) in stats.stats.items()
    ]
    table = pd.DataFrame(rows, columns=["function", "share", "calls"])
    return table.nlargest(number, "share").set_index("function")


@contextmanager
def tiny_encoder() -> Iterator[str]:
    """A folder with an encoder of one block of random weights, and the bundled encoders' tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=4 * WIDTH,
    )
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        transformers.BertForMaskedLM(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        yield folder
