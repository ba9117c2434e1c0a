"""What the cases share: texts, encoders, runs in turn, tables."""

from __future__ import annotations

import os
import re
import statistics
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import torch
import transformers

from estime_metric import EstimeResult, EstimeScorer
from experiments.benchmarks.systems import read_summeval

#: Where the folders ``bump`` and ``summeval`` are by default.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

#: Summaries of each source in SummEval.
PER_SOURCE = 16

Pair = tuple[str, str]
T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


# Texts


def pairs_of(data: Path, sources: int, each: int = PER_SOURCE) -> list[Pair]:
    """Pairs of the first sources of SummEval, source by source."""
    table = read_summeval(data / "summeval")
    first = table["document"].unique()[:sources]
    chosen = table[table["document"].isin(first)].groupby("document", sort=False).head(each)
    return list(zip(chosen["summary"], chosen["source"], strict=True))


def unzip(pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
    """Summaries and sources."""
    return [summary for summary, _ in pairs], [source for _, source in pairs]


def scoring(scorer: EstimeScorer, pairs: Sequence[Pair]) -> Callable[[], EstimeResult]:
    """A run that scores the pairs."""
    predictions, sources = unzip(pairs)
    return lambda: scorer.score(predictions, sources)


# Runs


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
