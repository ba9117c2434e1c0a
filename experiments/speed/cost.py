"""What a thousand pairs cost: seconds and cents for each bundled encoder and setting, and BERTScore.

    python -m experiments.speed cost --bump DATA/bump --threads 1 --clock cpu --price 5

The pairs are CNN/DailyMail articles of BUMP with their reference summaries, one for each article;
without BUMP's files they are made up in the same lengths. Seconds are medians of alternating runs
over a few pairs, times what a thousand pairs are. ``--price`` is the price of the machine in cents
an hour, for the threads that run.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.studies.benchmarks.shared.records import read_records
from experiments.speed import common
from experiments.speed.peers import BERTSCORE, Setting, bertscore

MODELS = ("embedded", "embedded-small")
SETTINGS: dict[str, EstimeConfig] = {
    "default (distance 2, float32)": EstimeConfig(distance=2),
    '`dtype="auto"`': EstimeConfig(distance=2, dtype="auto"),
    "distance 8, float32": EstimeConfig(distance=8),
}
OPTIONS = {
    "bump": (common.SUMMEVAL.with_name("bump"), "folder of BUMP"),
    "pairs": (8, "that are timed"),
    "rounds": (2, "that are timed"),
    "price": (5.0, "cents an hour"),
}

PAIRS = 1_000
WORDS, SUMMARY_WORDS = 700, 52  # of a source and of a summary of BUMP, on average


def news_pairs(folder: Path, count: int) -> tuple[list[common.Pair], str]:
    """Pairs of reference summary and article, and what they are."""
    file = folder / "data" / "task1_dataset.json"
    if not file.is_file():
        pairs = common.made_up(count, 1, WORDS, SUMMARY_WORDS)
        return pairs, "made-up texts of CNN/DailyMail's lengths"
    records = read_records(file, ("article_id", "article", "reference_summary"))
    articles = {record["article"]: record["reference_summary"] for record in records}
    chosen = [(summary, article) for article, summary in articles.items()]
    return chosen[:count], "CNN/DailyMail (BUMP)"


def runs_of(pairs: Sequence[common.Pair], folder: Path) -> dict[tuple[str, str], Callable[[], Any]]:
    """A run of each encoder with each setting and with BERTScore, if that is installed."""
    runs: dict[tuple[str, str], Callable[[], Any]] = {}
    for model in MODELS:
        for name, config in SETTINGS.items():
            scorer = EstimeScorer(config, model=model, device="cpu")
            runs[model, name] = common.scoring(scorer, pairs)
        saved = folder / model
        common.save_bundled(model, saved)
        layer = EstimeScorer(model=model).resolved_config.layer_tuple[0]
        peer = bertscore(Setting(str(saved), layer, pairs))
        if peer is not None:
            runs[model, f"{BERTSCORE}, the first 512 tokens"] = peer
    return runs


def table(
    timed: Mapping[tuple[str, str], common.Runs[Any]], pairs: int, price: float
) -> list[list[object]]:
    """A row for each encoder and setting: seconds and cents for `PAIRS` pairs."""
    rows: list[list[object]] = []
    for (model, name), runs in timed.items():
        seconds = runs.median * PAIRS / pairs
        rows.append([model, name, f"{seconds:,.0f}", f"{seconds / 3600 * price:.2f}"])
    return rows


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    pairs, texts = news_pairs(options.bump, options.pairs)
    with tempfile.TemporaryDirectory() as folder:
        runs = common.alternate(
            runs_of(pairs, Path(folder)), options.rounds, common.clock(options.clock)
        )
    title = f"{PAIRS:,} pairs, from {len(pairs)} of {texts}; {options.price:g} cents an hour"
    columns = ("encoder", "setting", "seconds", "cents")
    common.print_table(title, columns, table(runs, len(pairs), options.price))
