"""What rounding changes: another token budget, another order of the pairs, bfloat16.

    python -m experiments.speed rounding --threads 1

Prints how often ``alarms`` change on SummEval, and how far the graded measures move.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from estime_metric import EstimeConfig, EstimeScorer
from experiments.speed import common

#: Token budgets that are compared: the CPU's default and a larger one.
BUDGETS = (2_000, 8_000)

GRADED = ("graded_alarms", "inconsistency")

OPTIONS = {
    "model": ("embedded", "encoder"),
    "distance": (2, "of masks"),
    "sources": (20, "of SummEval, with 16 summaries each"),
}


def score(
    pairs: Sequence[common.Pair], config: EstimeConfig, order: Sequence[int] | None = None
) -> dict[str, Tensor]:
    """Alarms and graded measures of pairs in their own order, scored in another one."""
    order = order or range(len(pairs))
    scorer = EstimeScorer(config, device="cpu", measures=("graded_alarms",))
    result = scorer.score(*common.unzip([pairs[index] for index in order]))
    back = torch.tensor(order).argsort()
    return {measure: result.values(measure)[back] for measure in ("alarms", *GRADED)}


def moved(name: str, changed: Mapping[str, Tensor], first: Mapping[str, Tensor]) -> list[object]:
    """A row: pairs whose alarms differ, and mean and largest absolute differences."""
    alarms = (changed["alarms"] - first["alarms"]).abs()
    row: list[object] = [name, len(alarms), int((alarms > 0).sum()), f"{alarms.max():.0f}"]
    for measure in GRADED:
        difference = (changed[measure] - first[measure]).abs()
        row += [f"{difference.mean():.1e}", f"{difference.max():.1e}"]
    return row


def print_changes(pairs: Sequence[common.Pair], texts: str, model: str, distance: int) -> None:
    """The table of changes from one way of scoring to another."""
    shuffled = random.Random(0).sample(range(len(pairs)), len(pairs))
    rows: list[list[object]] = []
    default, larger = BUDGETS
    exact = None
    for dtype in ("float32", "bfloat16"):
        config = EstimeConfig(model=model, dtype=dtype, distance=distance, token_budget=default)
        first = score(pairs, config)
        other_budget = score(pairs, replace(config, token_budget=larger))
        rows.append(moved(f"{dtype}: budget {larger:,}, not {default:,}", other_budget, first))
        rows.append(moved(f"{dtype}: pairs shuffled", score(pairs, config, shuffled), first))
        if exact is None:
            exact = first
        else:
            rows.append(moved(f"{dtype}, not float32", first, exact))
    columns = ["change", "pairs", "alarms differ", "by at most"]
    columns += [f"{measure}, {kind}" for measure in GRADED for kind in ("mean", "largest")]
    title = f"{texts}, {model}, distance {distance}: absolute differences"
    common.print_table(title, columns, rows)


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    pairs, texts = common.pairs_of(options.summeval, options.sources)
    print_changes(pairs, texts, options.model, options.distance)
