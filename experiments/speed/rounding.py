"""What rounding changes: another token budget, another order of the pairs, bfloat16.

    python -m experiments.speed.rounding SUMMEVAL --threads 1
    python -m experiments.speed.rounding SUMMEVAL --threads 1 --hostile 2000

The first prints how often ``alarms`` change on SummEval, and how far the graded measures move. The
second scores made-up pairs with many near ties, and prints whether `EstimeResult.ties` counted what
changed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from estime_metric import EstimeConfig, EstimeResult, EstimeScorer, examples, files
from estime_metric.measures import STATISTICS, TIES
from experiments.speed import common

#: Token budgets that are compared: the CPU's default and a larger one.
BUDGETS = (2_000, 8_000)

GRADED = ("graded_alarms", "inconsistency")

# Changes on real pairs


def score(
    pairs: Sequence[common.Pair], config: EstimeConfig, order: Sequence[int] | None = None
) -> dict[str, Tensor]:
    """Alarms and graded measures of pairs in their own order, scored in another one."""
    order = order or range(len(pairs))
    scorer = EstimeScorer(config, device="cpu", measures=("graded_alarms",))
    result = scorer.score(*common.unzip([pairs[index] for index in order]))
    back = torch.tensor(order).argsort()
    return {measure: result.values(measure)[back] for measure in ("alarms", *GRADED)}


def moved(name: str, one: Mapping[str, Tensor], another: Mapping[str, Tensor]) -> list[object]:
    """A row: pairs whose alarms differ, and mean and largest absolute differences."""
    alarms = (one["alarms"] - another["alarms"]).abs()
    row: list[object] = [name, len(alarms), int((alarms > 0).sum()), f"{alarms.max():.0f}"]
    for measure in GRADED:
        difference = (one[measure] - another[measure]).abs()
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


# Ties of hostile pairs

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


@dataclass(frozen=True)
class Change:
    """How a statistic of some pairs differs between two results."""

    pairs: int  # that differ
    sum: float  # of the absolute differences
    ties: int  # that were counted
    beyond: int  # pairs that differ by more than their ties


def changes(one: EstimeResult, another: EstimeResult) -> dict[str, Change]:
    """The change of each statistic that rounding can reach."""
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
        found[name] = Change(
            pairs=int(real.sum()),
            sum=float(difference.sum()),
            ties=int(counted.sum()),
            beyond=int((difference > most).sum()),
        )
    return found


def print_ties(count: int, model: str) -> None:
    """The tables of hostile pairs, one for each precision."""
    summaries, sources = common.unzip(hostile_pairs(count))
    for dtype in ("float32", "bfloat16"):
        one, another = (
            EstimeScorer(
                model=model,
                device="cpu",
                dtype=dtype,
                token_budget=budget,
                measures=("soft", "coherence", "alarms_alltokens"),
            ).score(summaries, sources)
            for budget in BUDGETS
        )
        totals = {name: float(one._statistics[..., STATISTICS.index(name)].sum()) for name in TIES}
        rows = [
            (
                name,
                f"{totals[name]:,.0f}",
                change.pairs,
                f"{change.sum:.2f}",
                f"{change.ties:,}",
                change.beyond,
            )
            for name, change in changes(one, another).items()
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
            f"{dtype}: {len(summaries):,} hostile pairs, budgets of {BUDGETS}", columns, rows
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` in place of the process's."""
    parser = common.arguments(
        __doc__,
        model="embedded",
        distance=2,
        sources=(20, "of SummEval, with 16 summaries each"),
        hostile=(0, "number of hostile pairs, in place of SummEval's"),
    )
    common.add_summeval(parser, "summeval", nargs="?")
    options = common.start(parser, arguments)
    if options.hostile:
        print_ties(options.hostile, options.model)
    else:
        pairs, texts = common.pairs_of(options.summeval, options.sources)
        print_changes(pairs, texts, options.model, options.distance)


if __name__ == "__main__":
    main()
