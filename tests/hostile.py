"""Pairs with many near ties, and whether `EstimeResult.ties` counts what rounding changes in them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch

from estime_metric import EstimeResult, examples
from estime_metric.measures import STATISTICS, TIES
from estime_metric.table.rows import read_lines

NEARLY_EQUAL = [
    "colour",
    "color",
    "colors",
    "1999",
    "1998",
    "1,999",
    "walk",
    "walks",
    "walked",
    "he",
    "she",
    "two",
]
UNICODE = [
    "na\u00efve",
    "Z\u00fcrich",
    "\u5317\u4eac",
    "\u041f\u0440\u0438",
    "\U0001f600",
    "e\u0301",
    "\ufb01",
    "\u200d",
]
SUMMARIES = 8  # of each source


def hostile_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Pairs (summary, source) of repeats, nearly equal words, odd characters, one word and hundreds
    of words.
    """
    rng = random.Random(seed)
    plain = " ".join(line.row["source"] for line in read_lines(examples.PATH)).split()
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count:
        words = rng.choice([plain, plain, NEARLY_EQUAL, [*plain, *UNICODE], rng.sample(plain, 3)])
        source = [
            rng.choice(words)
            for _ in range(rng.choice([1, 3, 40, 80, 120] if rng.random() < 0.95 else [600]))
        ]
        for number in range(SUMMARIES):
            start = rng.randrange(len(source))
            summary = source[start : start + rng.choice([1, 8, 25])]
            if number % 2:  # not only copies
                summary = [
                    rng.choice(words)
                    for _ in range(rng.choice([1, 10, 25] if rng.random() < 0.98 else [300]))
                ]
            summary[rng.randrange(len(summary))] = rng.choice(plain)
            pairs.append((" ".join(summary), " ".join(source)))
    return pairs[:count]


@dataclass(frozen=True)
class Change:
    """How a statistic of some pairs differs between two results."""

    pairs: int  # that differ
    beyond: int  # pairs that differ by more than their ties


def changes(before: EstimeResult, after: EstimeResult) -> dict[str, Change]:
    """The change of each statistic that rounding can reach."""
    first, second = (
        {name: result._statistics[..., number] for number, name in enumerate(STATISTICS)}
        for result in (before, after)
    )
    by_statistic = {}
    for name, ties in TIES.items():
        difference = (first[name] - second[name]).abs()
        counted = torch.maximum(first[ties], second[ties])
        # Two cosines differ by 2 at most, and have rounding of their own; one other match may
        # change the whole order.
        most = {
            "cosines": 2 * counted + 1e-5 * first["tokens"],
            "coherence": 2.0 * (counted > 0),
        }.get(name, counted)
        real = difference > 1e-5 * first["tokens"]
        by_statistic[name] = Change(
            pairs=int(real.sum()),
            beyond=int((difference > most).sum()),
        )
    return by_statistic
