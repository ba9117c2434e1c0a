"""How often does the gate of ``estime compare --fail-if-worse`` stop an equal system, and how often a worse one?

Two systems are made of summaries that people judged. Each of their examples is a pair of summaries of one
source of which people prefer one; pairs are drawn with replacement, and each counts as a new source. In a
part of the examples the new system has the worse summary; in all others chance decides which system has
which. Without such a part, the systems are equal.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from estime_metric.cli import options
from estime_metric.compare.differences import compare_scores
from estime_metric.compare.gate import judge
from experiments.benchmarks.common import RUN, Run, show
from experiments.benchmarks.systems import read

SIZES = (100, 400, 1600)
#: Parts of the examples in which the new system has the worse summary.
PARTS = (0.0, 0.2)
#: What the gate reads of scores, by the names of the benchmarks. Words stand for tokens: they show how much
#: shorter a system is.
COLUMNS = {
    "(-)inconsistency": "inconsistency",
    "copied_density": "copied_density",
    "(-)length": "tokens",
}


def verdict(pairs: pd.DataFrame, scores: pd.DataFrame, part: float, size: int, seed: int) -> str:
    """What the gate says of two systems with ``size`` examples.

    Args:
        pairs: the rows in ``scores`` of the better summary and of the worse one.
        scores: a scored file of all summaries.
        part: the part of the examples in which the new system has the worse summary.
    """
    rows = pairs.sample(size, replace=True, random_state=seed).to_numpy(copy=True)
    others = rows[round(part * size) :]
    np.random.default_rng(seed).permuted(others, axis=1, out=others)
    sources = list(map(str, range(size)))
    old, new = (scores.loc[own].assign(source_id=sources) for own in rows.T)
    return judge(compare_scores({"old": old, "new": new}, measures="inconsistency"))[0].name.lower()


def gate(folder: Path, /, *, draws: options.PositiveCount = 50, run: Run = RUN) -> None:
    """How often does the gate of 'estime compare' stop an equal system, and how often a worse one?

    Prints and writes to gate.csv the share of draws with each verdict.

    Args:
        folder: As for systems.
        draws: Pairs of systems per dataset, part of worse summaries and number of summaries.
    """
    table = read(folder)
    scores = run.score(table)[list(COLUMNS)].abs().rename(columns=COLUMNS)
    scores["signature"] = "ESTIME|"
    judged = table[["data", "document", "judgement"]].reset_index()
    pairs = judged.merge(judged, on=["data", "document"]).query("judgement_x > judgement_y")
    by_data = pairs.groupby("data")[["index_x", "index_y"]]
    rows = [
        (data, part, size, verdict(own, scores, part, size, seed))
        for (data, own), part, size, seed in product(by_data, PARTS, SIZES, range(draws))
    ]
    keys = ["data", "part", "size"]
    verdicts = pd.DataFrame(rows, columns=[*keys, "verdict"]).groupby(keys)["verdict"]
    shares = verdicts.value_counts(normalize=True).unstack(fill_value=0.0)
    show("Share of draws", shares)
    run.save(gate=shares.reset_index())
