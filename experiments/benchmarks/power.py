"""What a curve of validation can show: by how many articles it takes to see that a model makes more errors.

Two checkpoints are made of BUMP's pairs: a summary with an error is the edited one, all others are references.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from estime_metric.cli import options
from estime_metric.show.plot import TICK, WIDTH, make_grid, new_figure, save
from estime_metric.table.arrays import Floats
from estime_metric.table.significance import LEVEL
from experiments.benchmarks.bump import read
from experiments.benchmarks.common import RUN, Run, show, wide

MEASURES = ("inconsistency", "alarms", "new_words", "new_trigrams")
ARTICLES = (50, 100, 200, 400, 800, 1600)
#: Share of summaries with an error at the first checkpoint, and at the second one.
BEFORE, AFTER = 0.1, (0.2, 0.3, 0.5)
#: The second checkpoint: the same articles, and nothing changed but the summaries that become wrong; or other articles.
CASES = BEST, OTHER = "best case", "other articles"


def power(
    pairs: Floats,
    after: float,
    articles: int,
    case: str,
    draws: int = 1000,
    seed: int = 0,
) -> float:
    """The share of ``draws`` in which a t-test, paired in the best case, otherwise Welch's, finds
    the second checkpoint worse with a two-sided p < .05.

    Args:
        pairs: scores of reference and edited summary, higher is better, (n, 2). Each draw takes
            ``articles`` of them with replacement.
        after: the share of summaries with an error at the second checkpoint; `BEFORE` at the first.
        case: one of `CASES`.
    """
    rng = np.random.default_rng(seed)
    first = rng.integers(len(pairs), size=(draws, articles))
    second = first if case == BEST else rng.integers(len(pairs), size=(draws, articles))
    place = np.arange(articles)
    before = pairs[first, (place < round(BEFORE * articles)).astype(int)]
    later = pairs[second, (place < round(after * articles)).astype(int)]
    if case == BEST:
        test = stats.ttest_rel(before, later, axis=1)
    else:
        test = stats.ttest_ind(before, later, axis=1, equal_var=False)
    return float(((test.pvalue < LEVEL) & (test.statistic > 0)).mean())


def plot(table: pd.DataFrame) -> Figure:
    """Power over the number of articles: a row of panels per case, a column per share of errors."""
    figure = new_figure(WIDTH, 4.2)
    panels = figure.subplots(len(CASES), len(AFTER), sharex=True, sharey=True)
    parts = table.groupby(["case", "after"], sort=False)
    for ((case, after), part), axes in zip(parts, panels.flat, strict=True):
        make_grid(axes, "articles", "power", f"{BEFORE:.0%} to {after:.0%},\n{case}")
        measures = part.groupby("measure", sort=False)
        for (name, powers), marker in zip(measures, "os^D", strict=True):
            axes.plot(powers["articles"], powers["power"], f"{marker}-", ms=4, label=name)
        axes.set(xscale="log", ylim=(0, 1.03))
        axes.set_xticks(ARTICLES, ARTICLES, minor=False)
        axes.minorticks_off()
        axes.label_outer()
    lines = axes.get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=4, frameon=False, fontsize=TICK)
    return figure


def power_of_a_curve(
    folder: Path, /, *, draws: options.PositiveCount = 1000, run: Run = RUN
) -> None:
    """How many articles show that errors become more frequent? The power of a t-test on BUMP's pairs.

    Prints the power to see that the share of summaries with an error rises from 10% to 20, 30 and 50%.
    Writes power.csv and power.svg.

    Args:
        folder: A copy of BUMP's repository, dataminr-ai/BUMP, or its folder data.
        draws: Samples of articles per number.
    """
    scores = run.score(read(folder))
    keys = ["case", "after", "measure", "articles"]
    table = pd.DataFrame(product(CASES, AFTER, MEASURES, ARTICLES), columns=keys)
    pairs = {name: scores[f"(-){name}"].to_numpy().reshape(-1, 2) for name in MEASURES}
    table["power"] = [
        power(pairs[row.measure], row.after, row.articles, row.case, draws, run.seed)
        for row in table.itertuples()
    ]
    for (case, after), part in table.groupby(keys[:2], sort=False):
        title = f"Power to see that {BEFORE:.0%} errors become {after:.0%}, {case}"
        show(title, wide(part, ["power"], "articles")["power"], 2)
    run.save(power=table)
    save(plot(table), run.output / "power.svg")
