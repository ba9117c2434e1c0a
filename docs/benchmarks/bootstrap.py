"""What intervals cost: 1,000 resamples of SummEval's table for every level and method, and the long way beside it.

    python -m docs.benchmarks.bootstrap

The table is of 100 documents and 17 systems, made up: scores with few ties, judgements in thirds as those of SummEval.
The long way copies the rows of each resample and calls scipy for each group; it is measured on a few resamples and
stretched to all.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from estime_metric.meta import LEVELS, METHODS, RESAMPLES, Grid, bootstrap, bootstrap_difference, permutation_test
from tests.meta import oracle


def made_up(documents: int, systems: int, seed: int) -> Grid:
    """Thirteen different judgements, scores that follow them."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(documents, systems)) + rng.normal(size=systems)
    judgements = np.clip(np.round(3 * (3 + quality)) / 3, 1, 5)
    scores = quality + 2 * np.random.default_rng(seed + 1).normal(size=quality.shape)
    names = tuple(map(str, range(documents))), tuple(map(str, range(systems)))
    return Grid(*names, scores, judgements, "made up", "made up")


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--systems", type=int, default=17)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--long-way", type=int, default=3, help="resamples that are computed the long way")
    options = parser.parse_args()
    grid = made_up(options.documents, options.systems, 0)
    print(
        f"{options.resamples} resamples of {grid.scores.size} summaries, {len(LEVELS)} levels, {len(METHODS)} methods\n"
    )
    print("| resampled | s | the long way, s |\n|---|--:|--:|")
    for kind in RESAMPLES:
        start = time.perf_counter()
        bootstrap(grid, resample=kind, n=options.resamples)
        taken = time.perf_counter() - start
        start = time.perf_counter()
        for sample in oracle.resample(grid.scores, grid.judgements, kind, options.long_way, 0):
            for level in oracle.LEVELS:
                for method in oracle.METHODS:
                    oracle.value(*sample, level, method)
        naive = (time.perf_counter() - start) * options.resamples / max(1, options.long_way)
        print(f"| {kind} | {taken:.2f} | {naive:.0f} (from {options.long_way}) |", flush=True)
    other = Grid(grid.documents, grid.systems, grid.scores**3, grid.judgements, "other", "made up")
    print("\n| paired test of two measures, kendall_b | level | s |\n|---|---|--:|")
    for name, test in (("bootstrap", bootstrap_difference), ("permutation", permutation_test)):
        for level in LEVELS:
            start = time.perf_counter()
            test(grid, other, level=level, method="kendall_b", n=options.resamples)
            print(f"| {name} | {level} | {time.perf_counter() - start:.2f} |", flush=True)


if __name__ == "__main__":
    main()
