"""What the cases share: texts, encoders, clocks, memory, tables."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
import transformers

from estime_metric import EstimeResult, EstimeScorer, embedded
from estime_metric.engine.encoder.loading import load_pretrained
from estime_metric.studies.benchmarks.summeval import data as summeval

#: Where SummEval is by default: ``summeval.jsonl`` and ``documents.jsonl``.
SUMMEVAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "summeval"

MEGABYTE = 1 << 20

#: Summaries of each source in SummEval.
PER_SOURCE = 16

_TEXT = (
    "the a of to in and was for on by with his her it said that from at as be town river bridge school price team "
    "council judge police company week year night water house road match game goal money court people city train"
)

Pair = tuple[str, str]
T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


# Texts


def pairs_of(folder: Path, sources: int, each: int = PER_SOURCE) -> tuple[list[Pair], str]:
    """Pairs of the first sources of SummEval, source by source, and what they are; made up in
    SummEval's lengths if the folder does not have its files.
    """
    if not (folder / "summeval.jsonl").is_file():
        return made_up(sources, each), "made-up texts of SummEval's lengths"
    data = summeval.read_folder(folder)
    pairs = list(zip(data.summaries, data.sources, strict=True))
    systems = len(data.systems)
    return [
        pair for first in range(sources) for pair in pairs[first * systems :][: min(each, systems)]
    ], "SummEval"


def made_up(
    sources: int, each: int = PER_SOURCE, words: int = 360, summary_words: int = 60
) -> list[Pair]:
    """Pairs of words at random, give or take a third of their length; summaries draw theirs from
    the source.
    """
    rng = random.Random(0)

    def text(choices: Sequence[str], length: int) -> str:
        return " ".join(rng.choices(choices, k=rng.randrange(2 * length // 3, 4 * length // 3 + 1)))

    pairs = []
    for _ in range(sources):
        source = text(_TEXT.split(), words)
        pairs += [(text(source.split(), summary_words), source) for _ in range(each)]
    return pairs


def unzip(pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
    """Summaries and sources."""
    return [summary for summary, _ in pairs], [source for _, source in pairs]


# Encoders


def make_encoder(folder: str | Path, blocks: int = 24, width: int = 1024) -> None:
    """Saves a random BERT, by default of bert-large's size, with the small encoder's tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=blocks,
        num_attention_heads=max(1, width // 64),
        intermediate_size=4 * width,
    )
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def save_bundled(model: str, folder: str | Path) -> None:
    """Saves a bundled encoder for programs that do not know its int8 weights."""
    load_pretrained(model, None, torch.float32).save(folder)


def scoring(scorer: EstimeScorer, pairs: Sequence[Pair]) -> Callable[[], EstimeResult]:
    """A run that scores the pairs."""
    predictions, sources = unzip(pairs)
    return lambda: scorer.score(predictions, sources)


# Clocks and processes


def clock(name: str) -> Callable[[], float]:
    """``wall`` seconds, or ``cpu`` seconds of all threads for a machine that is shared."""
    return {"wall": time.perf_counter, "cpu": time.process_time}[name]


@dataclass
class Runs(Generic[T]):
    """The runs of one of several ways: the seconds of each, and what the last one returned."""

    seconds: list[float]
    returned: T

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)

    def ratio_to(self, other: Runs[T]) -> float:
        """The median ratio of these seconds to the other's of the same round."""
        return statistics.median(
            own / others for own, others in zip(self.seconds, other.seconds, strict=True)
        )


def alternate(
    runs: Mapping[Key, Callable[[], T]], rounds: int, now: Callable[[], float]
) -> dict[Key, Runs[T]]:
    """Runs everything in turn, once unmeasured and then ``rounds`` times."""
    timed = {name: Runs([], run()) for name, run in runs.items()}
    for _ in range(rounds):
        for name, run in runs.items():
            start = now()
            timed[name].returned = run()
            timed[name].seconds.append(now() - start)
    return timed


def apart(run: Callable[..., T], *arguments: Any) -> T:
    """What ``run`` returns, in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run, *arguments).result()


# Memory


def resident() -> int:
    """Bytes of memory that this process holds now, on Linux."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Peak:
    """Watches the resident memory while a block runs."""

    def __enter__(self) -> Peak:
        self.most = resident()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.most = max(self.most, resident())


# What is printed


def machine() -> str:
    """One line on what this runs on."""
    cpu = next(
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    return (
        f"{torch.get_num_threads()} threads on {os.cpu_count()} cores of {cpu}; torch {torch.__version__}, "
        f"transformers {transformers.__version__}"
    )


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints a table as Markdown."""
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'|'.join('---' for _ in columns)}|")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    sys.stdout.flush()
