"""How time and memory grow with the length of a source and with the number of pairs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import transformers

from estime_metric import EstimeScorer, embedded
from estime_metric.jobs import Job, score_files
from estime_metric.show import plot as style
from experiments.speed import common

WORDS = (1_000, 3_000, 10_000, 30_000, 100_000)  # of the source
PAIRS = (10, 100, 1_000, 10_000, 100_000)
SUMMARY_WORDS = 60
SHORT_WORDS, SHORT_SUMMARY_WORDS, SHORT_EACH = 12, 4, 4  # of the many pairs


@dataclass(frozen=True)
class Grown:
    """What one size took."""

    size: int
    seconds: float
    megabytes: float


def score_long(words: int) -> Grown:
    """One pair with a source of that many words."""
    scorer = EstimeScorer(model="embedded-small", device="cpu")
    summary, source = common.made_up(1, 1, 2 * words, SUMMARY_WORDS)[0]
    source = " ".join(source.split()[:words])  # exactly that many
    scorer.score([summary], ["A cat sat on the mat."])
    return measure(words, lambda: scorer.score([summary], [source]))


def score_many(count: int, encoder: str) -> Grown:
    """A file of that many short pairs, scored into a file."""
    scorer = EstimeScorer(model=encoder, layers=1, device="cpu")
    pairs = common.made_up(-(-count // SHORT_EACH), SHORT_EACH, SHORT_WORDS, SHORT_SUMMARY_WORDS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        table = pd.DataFrame(pairs[:count], columns=["summary", "source"])
        table.to_json(path, orient="records", lines=True)
        del pairs, table
        scorer.score(["A cat."], ["A cat sat."])
        job = Job(inputs=(path,), output=Path(folder) / "scores.jsonl")
        return measure(count, lambda: score_files(job, scorer))


def measure(size: int, run: Callable[[], object]) -> Grown:
    """Runs once."""
    start = time.process_time()
    peak = common.peak_above(run)
    return Grown(size, time.process_time() - start, peak / common.MEGABYTE)


def save_tiny_encoder(folder: str) -> None:
    """Saves a random BERT of one block with the small encoder's tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=256,
    )
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def exponent(grown: Sequence[Grown]) -> float:
    """The exponent of the size in the seconds, by least squares of logarithms."""
    sizes, seconds = zip(*((point.size, point.seconds) for point in grown), strict=True)
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


def print_growth(title: str, size: str, grown: Sequence[Grown]) -> None:
    """The table of some sizes, with the exponents of all and of the two largest."""
    rows = [
        {
            size: f"{point.size:,}",
            "seconds": f"{point.seconds:.2f}",
            "MB above the encoder": f"{point.megabytes:.0f}",
        }
        for point in grown
    ]
    common.print_table(title, rows)
    print(f"\nexponent: {exponent(grown):.2f}, of the two largest: {exponent(grown[-2:]):.2f}")


def draw(panels: Mapping[str, Sequence[Grown]], path: Path) -> tuple[Path, ...]:
    """Seconds and memory over the sizes, on logarithmic axes: a row for each quantity, a column for
    each kind of size. Writes a PNG and an SVG.
    """
    figure = style.new_figure(style.WIDTH, 4.2)
    axes = figure.subplots(2, len(panels), squeeze=False)
    for column, (size, grown) in enumerate(panels.items()):
        sizes = [point.size for point in grown]
        seconds, megabytes = axes[0][column], axes[1][column]
        seconds.loglog(sizes, [point.seconds for point in grown], "o-", color=style.COLORS[0])
        largest = grown[-1]
        straight = [largest.seconds * size_ / largest.size for size_ in sizes]
        seconds.loglog(sizes, straight, "--", color=style.GRAY, label="proportional")
        seconds.legend(fontsize=style.TICK, frameon=False)
        megabytes.loglog(sizes, [point.megabytes for point in grown], "o-", color=style.COLORS[1])
        megabytes.set_ylim(
            1, 10 ** np.ceil(np.log10(max(10, *(point.megabytes for point in grown))))
        )
        style.make_grid(seconds, "", "seconds", size.capitalize())
        style.make_grid(megabytes, size, "MB above the encoder")
    return style.save(figure, path)


def growth(*, plot: Path | None = None) -> None:
    """Time and memory over the length of the source and the number of pairs.

    One pair with a long source is scored by the small encoder. Files of pairs of very short texts
    are scored into a file, chunk by chunk, with a random encoder of one block: so reading, chunks
    and writing count and not the encoder. Every row is a separate process; loading is not counted,
    and memory is the peak above the loaded encoder.

    Args:
        plot: File of the plot, without its ending.
    """
    by_words = [common.apart(score_long, words) for words in WORDS]
    print_growth("One pair: embedded-small", "words", by_words)
    with tempfile.TemporaryDirectory() as folder:
        save_tiny_encoder(folder)
        by_pairs = [common.apart(score_many, count, folder) for count in PAIRS]
    print_growth("Many pairs of very short texts: a random encoder of one block", "pairs", by_pairs)
    if plot:
        for path in draw({"words of the source": by_words, "pairs": by_pairs}, plot):
            print(f"wrote {path}")
