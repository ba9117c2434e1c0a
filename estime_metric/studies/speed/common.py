"""What the benchmarks share: texts, encoders, clocks, memory, the machine's matrix peak, options,
tables.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import random
import resource
import statistics
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import torch
import transformers

from estime_metric import embedded
from estime_metric.engine.encoder.loading import load_pretrained

#: SummEval as ``summeval.jsonl`` and ``documents.jsonl``, where it lies beside the repository.
SUMMEVAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "summeval"

MEGABYTE = 1 << 20

#: Summaries of each source in SummEval.
PER_SOURCE = 16

_TEXT = (
    "the a of to in and was for on by with his her it said that from at as be town river bridge school price team "
    "council judge police company week year night water house road match game goal money court people city train"
)

Pair = tuple[str, str]
T = TypeVar("T")


# Texts


def read_summeval(
    folder: Path, sources: int | None = None
) -> tuple[list[Pair], list[dict[str, Any]]]:
    """Pairs (summary, source) of the first so many sources, of all 1,600 by default, and the record
    of each.
    """
    documents, records = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("documents.jsonl", "summeval.jsonl")
    )
    texts = {row["doc_id"]: row["source"] for row in documents[:sources]}
    rows = [row for row in records if row["doc_id"] in texts]
    return [(row["summary"], texts[row["doc_id"]]) for row in rows], rows


def pairs_of(folder: Path, sources: int, each: int = PER_SOURCE) -> tuple[list[Pair], str]:
    """(summary, source) pairs, source by source, and what they are: SummEval if you have it, else
    made up.
    """
    if not (folder / "summeval.jsonl").is_file():
        return made_up(sources, each), "made-up texts of SummEval's lengths"
    by_source: dict[str, list[Pair]] = {}
    for pair in read_summeval(folder)[0]:
        by_source.setdefault(pair[1], []).append(pair)
    return [
        pair for pairs in list(by_source.values())[:sources] for pair in pairs[:each]
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
    """Saves a random BERT, at first of bert-large's size, with the embedded encoder's tokenizer."""
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


def save_small(folder: str | Path) -> None:
    """Saves the small encoder that ships, as tools read it that know no int8 weights."""
    load_pretrained("embedded-small", None, torch.float32).save(folder)


# Clocks and processes


def clock(name: str) -> Callable[[], float]:
    """``wall`` seconds, or ``cpu`` seconds of all threads for a machine that others use too."""
    return {"wall": time.perf_counter, "cpu": time.process_time}[name]


def alternate(
    runs: dict[str, Callable[[], Any]], rounds: int, now: Callable[[], float]
) -> dict[str, tuple[float, Any]]:
    """Runs everything in turn, ``rounds`` times: the median of each one's seconds, and what it last
    returned.
    """
    taken: dict[str, list[float]] = {name: [] for name in runs}
    returned = {}
    for _ in range(rounds):
        for name, run in runs.items():
            start = now()
            returned[name] = run()
            taken[name].append(now() - start)
    return {name: (statistics.median(taken[name]), returned[name]) for name in runs}


def apart(run: Callable[..., T], *arguments: Any) -> T:
    """What ``run`` returns, in a new process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run, *arguments).result()


def matrix_peak(
    dtype: str, device: str = "cpu", now: Callable[[], float] = time.perf_counter
) -> float:
    """Most GFLOP/s of a matrix product of 2048, on a GPU 8192, in 20 runs: what the machine can do
    at best.
    """
    size = 2048 if device == "cpu" else 8192
    with torch.inference_mode():
        states = torch.randn(size, size, device=device).to(getattr(torch, dtype))
        product = torch.nn.Linear(size, size, bias=False, device=device, dtype=states.dtype)
        best = 0.0
        for _ in range(20):
            start = now()
            product(states)
            synchronize(device)
            best = max(best, 2 * size**3 / (now() - start) / 1e9)
    return best


def synchronize(device: str) -> None:
    """Waits for a GPU."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


# Memory


def resident() -> int:
    """Bytes of memory that this process holds now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:  # not Linux: the peak so far is the best there is
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1024
        )


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


# Command line


def arguments(description: str | None, **defaults: Any) -> argparse.ArgumentParser:
    """A parser with what all benchmarks take, and an option for each default: a value, or a value
    and its help.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--threads", type=int, default=None, help="threads of PyTorch (default: all cores)"
    )
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall", help="cpu: where others use the machine"
    )
    for name, value in defaults.items():
        default, text = value if isinstance(value, tuple) else (value, None)
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(
            flag, type=int if default is None else type(default), default=default, help=text
        )
    return parser


def add_summeval(parser: argparse.ArgumentParser, *name: str, **more: Any) -> None:
    """Where SummEval lies: the option ``--summeval``, or an argument of another name."""
    text = "SummEval: the folder of documents.jsonl and summeval.jsonl"
    parser.add_argument(*(name or ("--summeval",)), type=Path, default=SUMMEVAL, help=text, **more)


def start(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options that were given; sets the threads, silences the toolkits, and says on what this
    runs.
    """
    options = parser.parse_args()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    print(machine(), flush=True)
    return options


def machine() -> str:
    """One line on what this runs on."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return (
        f"{torch.get_num_threads()} threads on {os.cpu_count()} cores of {name}{gpu}; torch {torch.__version__}, "
        f"transformers {transformers.__version__}"
    )


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table as Markdown."""
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'|'.join('---' for _ in columns)}|")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    sys.stdout.flush()
