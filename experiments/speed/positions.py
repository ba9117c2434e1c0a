"""Work by the number of summaries of each source: positions of the encoder, and pairs per second.

    python -m experiments.speed positions --clock cpu --sources 2

A position is a token of a window, special tokens included. Nearly all of the work is proportional to
the positions, and most of them are the source's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from estime_metric import EstimeScorer
from estime_metric.engine.text.masking import mask_units
from estime_metric.engine.text.pairs import pair_batches
from experiments.speed import common

OPTIONS = {
    "model": ("embedded", "encoder"),
    "sources": (2, "of SummEval"),
    "each": ([1, 4, 16], "summaries of each source"),
    "rounds": (2, "that are timed"),
}


def count_positions(scorer: EstimeScorer, pairs: Sequence[common.Pair]) -> int:
    """The tokens of all windows that scoring these pairs gives the encoder; nothing is encoded."""
    config, encoder = scorer.resolved_config, scorer.encoder
    around = encoder.info.special.around
    positions = 0
    for batch in pair_batches(
        *common.unzip(pairs), config, encoder.tokenizer, max_units=sys.maxsize, every_unit=False
    ):
        for units in batch.to_embed:
            positions += sum(len(window) + around for window in mask_units(units, config).windows)
    return positions


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    scorer = EstimeScorer(model=options.model, device="cpu")
    rows = []
    for each in options.each:
        pairs, texts = common.pairs_of(options.summeval, options.sources, each)
        scoring = {each: common.scoring(scorer, pairs)}
        seconds = common.alternate(scoring, options.rounds, common.clock(options.clock))[
            each
        ].median
        positions = count_positions(scorer, pairs)
        numbers = f"{positions / len(pairs):,.0f}", f"{len(pairs) / seconds:.3g}"
        rows.append((each, len(pairs), *numbers, f"{positions / seconds:,.0f}"))
    columns = ("summaries of each source", "pairs", "positions per pair", "pairs/s", "positions/s")
    common.print_table(f"{options.model}, {options.sources} sources of {texts}", columns, rows)
