"""What another token budget changes, and whether `EstimeResult.ties` counted it: hostile pairs in
each precision.

Usage: python -m estime_metric.studies.speed.rounding --pairs 2000 --dtypes float32,bfloat16
"""

from __future__ import annotations

import random

import torch

from estime_metric import EstimeResult, EstimeScorer, examples, files
from estime_metric.measures import STATISTICS, TIES
from estime_metric.studies.speed import common

#: Token budgets that are compared: the CPU's default and a larger one.
BUDGETS = (2_000, 8_000)

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


def hostile_pairs(count: int, seed: int = 0) -> list[common.Pair]:
    """Pairs (summary, source) of repeats, nearly equal words, odd characters, one word and hundreds
    of words.
    """
    rng = random.Random(seed)
    plain = " ".join(files.read_pairs(examples.PATH).sources).split()
    pairs: list[common.Pair] = []
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


def changes(one: EstimeResult, another: EstimeResult) -> dict[str, tuple[int, float, int, int]]:
    """For each statistic that rounding can reach: pairs that differ, the sum of differences, what
    was counted as ties, and the pairs whose difference exceeds that."""
    first, second = (
        {name: result._statistics[..., number] for number, name in enumerate(STATISTICS)}
        for result in (one, another)
    )
    found = {}
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
        found[name] = (
            int(real.sum()),
            float(difference.sum()),
            int(counted.sum()),
            int((difference > most).sum()),
        )
    return found


def main() -> None:
    options = common.start(
        common.arguments(__doc__, model="embedded", pairs=2_000, dtypes="float32,bfloat16")
    )
    summaries, sources = zip(*hostile_pairs(options.pairs), strict=True)
    for dtype in options.dtypes.split(","):
        one, another = (
            EstimeScorer(
                model=options.model,
                device="cpu",
                dtype=dtype,
                token_budget=budget,
                measures=("soft", "coherence", "alarms_alltokens"),
            ).score(summaries, sources)
            for budget in BUDGETS
        )
        totals = {name: float(one._statistics[..., STATISTICS.index(name)].sum()) for name in TIES}
        rows = [
            (name, f"{totals[name]:,.0f}", pairs, f"{change:.2f}", f"{ties:,}", beyond)
            for name, (pairs, change, ties, beyond) in changes(one, another).items()
        ]
        columns = (
            "statistic",
            "in all",
            "pairs that change",
            "change",
            "ties counted",
            "pairs beyond their ties",
        )
        common.print_table(
            f"{dtype}: {len(summaries):,} pairs, budgets of {BUDGETS}", columns, rows
        )


if __name__ == "__main__":
    main()
