"""What the cases share: pairs of BUMP, runs in turn, the machine."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import torch
import transformers

from experiments.benchmarks import bump, frank

#: Where the folder ``bump`` is by default.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

#: Summaries and their sources.
Pairs = tuple[list[str], list[str]]


def pairs_of(data: Path, articles: int, each: int) -> Pairs:
    """Summaries of the first articles of BUMP, article by article: the reference, and edited ones."""
    table = bump.read(data / "bump", limit=articles).drop_duplicates(["article", "summary"])
    chosen = table.groupby("article", sort=False).head(each)
    return list(chosen["summary"]), list(chosen["source"])


def frank_pairs(data: Path, number: int) -> Pairs:
    """The first pairs of FRANK, article by article."""
    table = pd.concat(frank.read(data / "frank", split) for split in frank.SPLITS)
    chosen = table.head(number)
    return list(chosen["summary"]), list(chosen["source"])


def alternate(runs: Mapping[str, Callable[[], object]], rounds: int) -> pd.DataFrame:
    """The CPU seconds of everything, (rounds, runs), run in turn after a run that does not count."""
    seconds = []
    for number in range(rounds + 1):
        taken = {}
        for name, run in runs.items():
            start = time.process_time()
            run()
            taken[name] = time.process_time() - start
        if number:
            seconds.append(taken)
    return pd.DataFrame(seconds)


def machine() -> str:
    """One line on what this runs on."""
    cpu = re.findall(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)[0]
    return (
        f"One thread on {os.cpu_count()} cores of {cpu}; torch {torch.__version__}, "
        f"transformers {transformers.__version__}"
    )
