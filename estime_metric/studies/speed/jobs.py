"""Large jobs: memory as rows grow, pairs per second, what a dry run says against what a run takes,
grouping with Ray.

    python -m estime_metric.studies.speed.jobs memory             peak memory of the command at 10,000 and 200,000 rows
    python -m estime_metric.studies.speed.jobs rate               pairs per CPU second, by summaries of each source
    python -m estime_metric.studies.speed.jobs estimate           estimated against real time, four inputs
    python -m estime_metric.studies.speed.jobs reading            pairs per CPU second of the process that hands out chunks
    python -m estime_metric.studies.speed.jobs grouping           CPU seconds of a Ray run with and without grouped sources

Each run is a process of its own with one thread; what loads the encoder is in it but for ``rate``.
Texts are SummEval's if you have it, else made up; those of ``memory`` are made up and short.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

import torch

from estime_metric import EstimeScorer
from estime_metric.files import ChunkLimits
from estime_metric.jobs import Job, estimate_job, score_files
from estime_metric.jobs.chunks import Digest, cut_chunks
from estime_metric.jobs.inputs import job_lines
from estime_metric.studies.speed import common

#: Random encoders for ``rate``, blocks and width: ``tiny`` shows what all but the encoder takes.
_MADE = {"large": (24, 1024), "tiny": (1, 64)}

#: A step in the statistics of Ray Data: its name, and the CPU time of all its tasks.
_STEP = re.compile(
    r"^Operator \d+ ([^:]+):.*\n(?:\*.*\n)*?\* Remote cpu time: .* ([\d.]+)(us|ms|s) total", re.M
)

#: Summaries of each short source.
_EACH = 4


def write_pairs(path: Path, pairs: Iterable[common.Pair]) -> Path:
    """Pairs (summary, source) as JSON Lines."""
    with path.open("w", encoding="utf-8") as stream:
        for summary, source in pairs:
            stream.write(json.dumps({"source": source, "summary": summary}) + "\n")
    return path


def run_score(*arguments: object) -> tuple[float, float, float]:
    """``estime score ARGUMENTS`` on one thread: wall seconds, CPU seconds, peak MB."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, "-m", "estime_metric", "score", *map(str, arguments), "-q"]
    start = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("estime score failed.")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def memory(options: argparse.Namespace, folder: Path) -> None:
    """The peak of `estime score` as the rows grow."""
    rows = []
    for count in options.rows:
        pairs = common.made_up(count // _EACH, _EACH, options.words, max(options.words // 3, 3))
        path, out = write_pairs(folder / "pairs.jsonl", pairs), folder / "scores.jsonl"
        used = run_score(
            path, "-o", out, "--overwrite", "-m", options.model, "-l", options.layer or 1
        )
        assert len(out.read_bytes().splitlines()) == len(pairs)
        rows.append((f"{len(pairs):,}", *(f"{number:.0f}" for number in used)))
    title = f"estime score, sources of about {options.words} words, {_EACH} summaries each, layer {options.layer or 1}"
    common.print_table(title, ("rows", "seconds", "CPU seconds", "peak MB"), rows)


def rate(options: argparse.Namespace, folder: Path) -> None:
    """Pairs, sources and positions per CPU second of scoring, without loading."""
    torch.set_num_threads(1)
    model = options.model
    if model in _MADE:
        common.make_encoder(model := str(folder / model), *_MADE[options.model])
    scorer = EstimeScorer(model=model, layers=options.layer)
    rows = []
    for each in options.each:
        pairs, texts = common.pairs_of(options.summeval, options.sources, each)
        summaries, sources = common.unzip(pairs)
        positions = scorer.work(summaries, sources).positions
        scorer.score(summaries[:1], sources[:1])
        start, began = time.process_time(), time.perf_counter()
        scorer.score(summaries, sources)
        cpu, wall = time.process_time() - start, time.perf_counter() - began
        per_second = f"{len(pairs) / cpu:.3g}", f"{positions / cpu:,.0f}"
        rows.append(
            (
                each,
                len(pairs),
                f"{cpu:.1f}",
                f"{wall:.1f}",
                *per_second,
                f"{positions / len(pairs):,.0f}",
            )
        )
    columns = (
        "summaries of each source",
        "pairs",
        "CPU seconds",
        "seconds",
        "pairs per CPU second",
        "positions per CPU second",
        "positions per pair",
    )
    common.print_table(f"Scoring on one thread: {options.model}, {texts}", columns, rows)


def estimate(options: argparse.Namespace, folder: Path) -> None:
    """What a dry run says, and what the run takes; in CPU seconds of one thread, which other
    programs do not change.
    """
    torch.set_num_threads(1)
    scorer = EstimeScorer(model=options.model)
    alone, texts = common.pairs_of(options.summeval, 2 * options.sources, 1)
    together, _ = common.pairs_of(options.summeval, options.sources // 4, 16)
    words = " ".join(source for _, source in alone).split()
    short = [(summary, source[:250]) for summary, source in alone]
    cases = {
        "sources of 250 characters": short,
        "articles, one summary each": alone[: options.sources],
        "articles, 16 summaries each": together,
        "short ones, and one source of 2,500 words": [
            (alone[0][0], " ".join(words[:2500])),
            *short[: options.sources],
        ],
    }
    rows = []
    for name, pairs in cases.items():
        job = Job(inputs=(write_pairs(folder / "pairs.jsonl", pairs),))
        with mock.patch("estime_metric.jobs.estimate.perf_counter", time.process_time):
            said = estimate_job(job, scorer)
        start = time.process_time()
        score_files(job, scorer)
        took = time.process_time() - start
        numbers = (
            f"{said.seconds:.1f}",
            f"{took:.1f}",
            f"{said.seconds / took:.2f}",
            f"{said.longest_seconds:.1f}",
        )
        rows.append((name, len(pairs), said.calibrated, *numbers))
    columns = ("input", "pairs", "pairs timed", "dry run", "CPU seconds", "ratio", "longest source")
    common.print_table(f"Dry run against run: {options.model}, {texts}", columns, rows)


def reading(options: argparse.Namespace, folder: Path) -> None:
    """What the process that reads and hands out chunks has to do, without what Ray itself does."""
    pairs, texts = common.pairs_of(options.summeval, options.sources, options.each[-1])
    path = write_pairs(folder / "pairs.jsonl", pairs * 10)
    start, count = time.process_time(), 0
    job = Job(inputs=(path,))
    limits = ChunkLimits(pairs=256, size=10**9)
    for chunk in cut_chunks(job_lines(job), job, limits, Digest()):
        count += len(pickle.loads(pickle.dumps(chunk)).pairs)
    row = f"{count:,}", f"{count / (time.process_time() - start):,.0f}"
    common.print_table(
        f"Reading, comparing and passing on: {texts}", ("pairs", "pairs per CPU second"), [row]
    )


def grouping(options: argparse.Namespace, folder: Path) -> None:
    """Shuffled pairs on a local Ray, with and without grouping: CPU seconds of each of its steps."""
    import ray
    import ray.data

    from estime_metric.integrations.ray import score_dataset

    pairs, texts = common.pairs_of(options.summeval, options.sources, options.each[-1])
    random.Random(0).shuffle(pairs)
    table = [{"source": source, "summary": summary} for summary, source in pairs]
    ray.init(
        num_cpus=2, object_store_memory=200_000_000, include_dashboard=False, log_to_driver=False
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = []
    for group in (True, False):
        start = time.perf_counter()
        scored = score_dataset(
            ray.data.from_items(table, override_num_blocks=options.blocks),
            model=options.model,
            group_sources=group,
            concurrency=1,
            num_cpus=1,
        ).materialize()
        wall = time.perf_counter() - start
        assert scored.count() == len(pairs)
        unit = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
        for name, took, size in _STEP.findall(scored.stats()):
            rows.append(("yes" if group else "no", name, f"{float(took) * unit[size]:.2f}"))
        rows.append(("yes" if group else "no", "wall, with the start of workers", f"{wall:.1f}"))
    ray.shutdown()
    title = f"Ray, {len(pairs)} pairs of {options.sources} sources in {options.blocks} blocks: {options.model}, {texts}"
    common.print_table(title, ("grouped", "step", "CPU seconds"), rows)


def main() -> None:
    parts = {part.__name__: part for part in (memory, rate, estimate, reading, grouping)}
    parser = common.arguments(
        __doc__,
        model=("embedded-small", "encoder; for rate also random ones, large and tiny"),
        layer=(None, "layer (default: by model; for memory 1)"),
        words=(12, "words of a source, for memory"),
        sources=(20, "sources, for the others"),
        blocks=(8, "blocks of the data set, for grouping"),
    )
    parser.add_argument("part", choices=parts)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 200_000], help="for memory")
    parser.add_argument(
        "--each", type=int, nargs="+", default=[1, 4, 16], help="summaries of each source"
    )
    common.add_summeval(parser)
    options = common.start(parser)
    with tempfile.TemporaryDirectory() as folder:
        parts[options.part](options, Path(folder))


if __name__ == "__main__":
    main()
