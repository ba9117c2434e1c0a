"""What a thousand pairs cost: seconds and cents for each bundled encoder and preset, and BERTScore.

    python -m experiments.speed.cost DATA/bump --threads 1 --clock cpu --price 5

The pairs are CNN/DailyMail articles of BUMP with their reference summaries, one for each article;
without BUMP's files they are made up in the same lengths. Seconds are medians of alternating runs
over a few pairs, times what a thousand pairs are. ``--price`` is the price of the machine in cents
an hour, for the threads that run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.studies.benchmarks.shared.records import read_records
from experiments.speed import common
from experiments.speed.peers import BERTSCORE, Setting, bertscore

MODELS = ("embedded", "embedded-small")
PRESETS: dict[str, EstimeConfig] = {
    "default (distance 8, float32)": EstimeConfig(),
    '`dtype="auto"`': EstimeConfig(dtype="auto"),
    "fast preset, float32": EstimeConfig.fast(dtype="float32"),
    'fast preset, `dtype="auto"`': EstimeConfig.fast(dtype="auto"),
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
    """A run of each encoder with each preset and with BERTScore, if that is installed."""
    found: dict[tuple[str, str], Callable[[], Any]] = {}
    for model in MODELS:
        for name, config in PRESETS.items():
            scorer = EstimeScorer(config, model=model, device="cpu")
            found[model, name] = Setting(model, 0, pairs).scoring(scorer)
        saved = folder / model
        common.save_bundled(model, saved)
        layer = EstimeScorer(model=model).resolved_config.layer_tuple[0]
        run = bertscore(Setting(str(saved), layer, pairs))
        if run is not None:
            found[model, f"{BERTSCORE}, the first 512 tokens"] = run
    return found


def table(
    found: Mapping[tuple[str, str], common.Runs[Any]], pairs: int, price: float
) -> list[list[object]]:
    """A row for each encoder and preset: seconds and cents for `PAIRS` pairs."""
    rows: list[list[object]] = []
    for (model, name), runs in found.items():
        seconds = runs.median * PAIRS / pairs
        rows.append([model, name, f"{seconds:,.0f}", f"{seconds / 3600 * price:.2f}"])
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` in place of the process's."""
    parser = common.arguments(
        __doc__, pairs=(8, "that are timed"), rounds=2, price=(5.0, "cents an hour")
    )
    parser.add_argument("bump", type=Path, help="folder of BUMP")
    options = common.start(parser, arguments)
    pairs, texts = news_pairs(options.bump, options.pairs)
    with tempfile.TemporaryDirectory() as folder:
        runs = runs_of(pairs, Path(folder))
        found = common.alternate(runs, options.rounds, common.clock(options.clock))
    title = f"{PAIRS:,} pairs, from {len(pairs)} of {texts}; {options.price:g} cents an hour"
    columns = ("encoder", "preset", "seconds", "cents")
    common.print_table(title, columns, table(found, len(pairs), options.price))


if __name__ == "__main__":
    main()
