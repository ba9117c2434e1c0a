"""Large jobs: work by summaries of each source, dry runs compared with runs, grouping with Ray.

    python -m experiments.speed.jobs rate       pairs per CPU second, by summaries of each source
    python -m experiments.speed.jobs estimate   estimated and real time of four inputs
    python -m experiments.speed.jobs grouping   CPU seconds of a Ray run with and without grouped sources

Counted are CPU seconds, by default of one thread, which other programs change little.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

from estime_metric import EstimeScorer
from estime_metric.jobs import Job, estimate_job, score_files
from experiments.speed import common
from experiments.speed.growth import write_pairs

#: A step in the statistics of Ray Data: its name, and the CPU time of all its tasks.
_STEP = re.compile(
    r"^Operator \d+ ([^:]+):.*\n(?:\*.*\n)*?\* Remote cpu time: .* ([\d.]+)(us|ms|s) total", re.M
)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def rate(options: argparse.Namespace, folder: Path) -> None:
    """Prints pairs and positions per CPU second of scoring."""
    scorer = EstimeScorer(model=options.model, device="cpu")
    rows = []
    for each in options.each:
        pairs, texts = common.pairs_of(options.summeval, options.sources, each)
        summaries, sources = common.unzip(pairs)
        positions = scorer.work(summaries, sources).positions
        scorer.score(summaries[:1], sources[:1])
        start = time.process_time()
        scorer.score(summaries, sources)
        seconds = time.process_time() - start
        rows.append(
            (
                each,
                len(pairs),
                f"{positions / len(pairs):,.0f}",
                f"{len(pairs) / seconds:.3g}",
                f"{positions / seconds:,.0f}",
            )
        )
    columns = (
        "summaries of each source",
        "pairs",
        "positions per pair",
        "pairs per CPU second",
        "positions per CPU second",
    )
    common.print_table(f"Scoring: {options.model}, {texts}", columns, rows)


def estimate(options: argparse.Namespace, folder: Path) -> None:
    """Prints what dry runs say and what the runs take."""
    scorer = EstimeScorer(model=options.model, device="cpu")
    alone, texts = common.pairs_of(options.summeval, 2 * options.sources, 1)
    together, _ = common.pairs_of(options.summeval, max(options.sources // 4, 1), 16)
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
        taken = time.process_time() - start
        expected = f"{said.seconds_low:.1f} to {said.seconds_high:.1f}"
        rows.append((name, len(pairs), said.timed, expected, f"{taken:.1f}"))
    columns = ("input", "pairs", "pairs timed", "dry run", "CPU seconds")
    common.print_table(f"Dry runs and runs: {options.model}, {texts}", columns, rows)


def grouping(options: argparse.Namespace, folder: Path) -> None:
    """Prints CPU seconds of each step of a local Ray on shuffled pairs, with and without grouping."""
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
    for grouped in (True, False):
        scored = score_dataset(
            ray.data.from_items(table, override_num_blocks=options.blocks),
            model=options.model,
            group_sources=grouped,
            concurrency=1,
            num_cpus=1,
        ).materialize()
        assert scored.count() == len(pairs)
        for name, taken, unit in _STEP.findall(scored.stats()):
            seconds = f"{float(taken) * _SECONDS[unit]:.2f}"
            rows.append(("yes" if grouped else "no", name, seconds))
    ray.shutdown()
    title = f"Ray, {len(pairs)} pairs of {options.sources} sources in {options.blocks} blocks: {options.model}, {texts}"
    common.print_table(title, ("grouped", "step", "CPU seconds"), rows)


PARTS: dict[str, Callable[[argparse.Namespace, Path], None]] = {
    part.__name__: part for part in (rate, estimate, grouping)
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` in place of the process's."""
    parser = common.arguments(
        __doc__,
        model="embedded-small",
        sources=20,
        blocks=(8, "blocks of the dataset, for grouping"),
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument(
        "--each", type=int, nargs="+", default=[1, 4, 16], help="summaries of each source"
    )
    common.add_summeval(parser)
    parser.set_defaults(threads=1)
    options = common.start(parser, arguments)
    with tempfile.TemporaryDirectory() as folder:
        PARTS[options.part](options, Path(folder))


if __name__ == "__main__":
    main()
