"""What the cases share: texts, encoders, runs in turn, memory, tables."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import statistics
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
import transformers

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.studies.benchmarks.summeval import data as summeval

#: Where the folders ``bump`` and ``summeval`` are by default.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

MEGABYTE = 1 << 20

#: Summaries of each source in SummEval.
PER_SOURCE = 16

_WORDS = (
    "the a of to in and was for on by with his her it said that from at as be town river bridge school price team "
    "council judge police company week year night water house road match game goal money court people city train"
)

Pair = tuple[str, str]
T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


# Texts


def pairs_of(data: Path, sources: int, each: int = PER_SOURCE) -> list[Pair]:
    """Pairs of the first sources of SummEval, source by source."""
    table = summeval.read_folder(data / "summeval").table
    first = table["document"].unique()[:sources]
    chosen = table[table["document"].isin(first)].groupby("document", sort=False).head(each)
    return list(zip(chosen["summary"], chosen["source"], strict=True))


def made_up(sources: int, each: int, words: int, summary_words: int) -> list[Pair]:
    """Pairs of words at random, give or take a third of their length; summaries draw theirs from
    the source.
    """
    rng = random.Random(0)

    def text(choices: Sequence[str], length: int) -> str:
        return " ".join(rng.choices(choices, k=rng.randrange(2 * length // 3, 4 * length // 3 + 1)))

    pairs = []
    for _ in range(sources):
        source = text(_WORDS.split(), words)
        pairs += [(text(source.split(), summary_words), source) for _ in range(each)]
    return pairs


def unzip(pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
    """Summaries and sources."""
    return [summary for summary, _ in pairs], [source for _, source in pairs]


def scoring(scorer: EstimeScorer, pairs: Sequence[Pair]) -> Callable[[], EstimeResult]:
    """A run that scores the pairs."""
    predictions, sources = unzip(pairs)
    return lambda: scorer.score(predictions, sources)


# Runs and processes


@dataclass
class Runs(Generic[T]):
    """The runs of one of several ways: the CPU seconds of each, and what the last one returned."""

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


def alternate(runs: Mapping[Key, Callable[[], T]], rounds: int) -> dict[Key, Runs[T]]:
    """Runs everything in turn, once unmeasured and then ``rounds`` times."""
    timed = {name: Runs([], run()) for name, run in runs.items()}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            timed[name].returned = run()
            timed[name].seconds.append(time.process_time() - start)
    return timed


def apart(run: Callable[..., T], *arguments: Any) -> T:
    """What ``run`` returns, in a new process with one thread of PyTorch."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, torch.set_num_threads, (1,)) as pool:
        return pool.submit(run, *arguments).result()


# Memory, on Linux


def resident() -> int:
    """Bytes of memory that this process holds now."""
    return _memory("VmRSS")


def peak_above(run: Callable[[], object]) -> int:
    """The most bytes of memory that this process holds while something runs, above those before."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = resident()
    run()
    return _memory("VmHWM") - before


def _memory(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.findall(rf"^{name}:\s+(\d+) kB", status, re.M)[0])


# What is printed


def machine() -> str:
    """One line on what this runs on."""
    cpu = re.findall(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)[0]
    return (
        f"One thread on {os.cpu_count()} cores of {cpu}; torch {torch.__version__}, "
        f"transformers {transformers.__version__}"
    )


def print_table(title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Prints rows, which have the same columns, as Markdown."""
    print(f"\n{title}\n\n| {' | '.join(rows[0])} |\n|{'|'.join('---' for _ in rows[0])}|")
    for row in rows:
        print(f"| {' | '.join(map(str, row.values()))} |", flush=True)
