"""What rounding changes: another token budget, another order of the pairs, bfloat16."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from estime_metric import EstimeConfig, EstimeScorer
from experiments.speed import common

SOURCES = 2  # of SummEval, with 16 summaries each

#: Token budgets that are compared: the CPU's default and a larger one.
BUDGETS = (2_000, 8_000)

GRADED = ("graded_alarms", "inconsistency")


def score(
    pairs: Sequence[common.Pair], config: EstimeConfig, order: Sequence[int] | None = None
) -> dict[str, Tensor]:
    """Alarms and graded measures of pairs in their own order, scored in another one."""
    order = order or range(len(pairs))
    scorer = EstimeScorer(config, device="cpu", measures=("graded_alarms",))
    result = scorer.score(*common.unzip([pairs[index] for index in order]))
    back = torch.tensor(order).argsort()
    return {measure: result.values(measure)[back] for measure in ("alarms", *GRADED)}


def moved(
    change: str, changed: Mapping[str, Tensor], first: Mapping[str, Tensor]
) -> dict[str, object]:
    """A row: pairs whose alarms differ, and mean and largest absolute differences."""
    alarms = (changed["alarms"] - first["alarms"]).abs()
    row: dict[str, object] = {
        "change": change,
        "pairs": len(alarms),
        "alarms differ": int((alarms > 0).sum()),
        "by at most": f"{alarms.max():.0f}",
    }
    for measure in GRADED:
        difference = (changed[measure] - first[measure]).abs()
        row[f"{measure}, mean"] = f"{difference.mean():.1e}"
        row[f"{measure}, largest"] = f"{difference.max():.1e}"
    return row


def rounding(*, data: Path = common.DATA) -> None:
    """What changes with the token budget, the order and the dtype.

    Prints how often ``alarms`` change on SummEval, and how far the graded measures move.
    """
    pairs = common.pairs_of(data, SOURCES)
    shuffled = random.Random(0).sample(range(len(pairs)), len(pairs))
    default, larger = BUDGETS
    rows, plain = [], []
    for dtype in ("float32", "bfloat16"):
        config = EstimeConfig(dtype=dtype, token_budget=default)
        first = score(pairs, config)
        other_budget = score(pairs, replace(config, token_budget=larger))
        rows.append(moved(f"{dtype}: budget {larger:,}, not {default:,}", other_budget, first))
        rows.append(moved(f"{dtype}: pairs shuffled", score(pairs, config, shuffled), first))
        plain.append(first)
    rows.append(moved("bfloat16, not float32", plain[1], plain[0]))
    common.print_table("SummEval, absolute differences", rows)
