"""What scores say: whether they distinguish clean from corrupted summaries.

Axes: ``d`` pairs, ``n`` resamples of them. A number ``NAME`` comes with the ends of its 95%
interval, ``NAME_low`` and ``NAME_high``, widened to the number if it is outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.studies.benchmarks.shared.frames import Frames, drawn_weights, with_intervals
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.meta import correlations
from estime_metric.studies.meta.concordance import METHODS, tally
from estime_metric.studies.meta.ranks import ratio
from estime_metric.table.arrays import Floats
from estime_metric.table.tests import approximate_randomization

if TYPE_CHECKING:
    from estime_metric.studies.benchmarks.subtle_errors.data import Versions

AGREEMENT = "agreement.csv"


def analyze(scores: Scores[Versions], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """One tidy table, ``agreement.csv``: what `agree` gives for each number of errors and measure, over
    the pairs that have that many errors and a score.
    """
    return {AGREEMENT: _agreement(scores, resamples, seed)}


def _agreement(scores: Scores[Versions], resamples: int, seed: int) -> pd.DataFrame:
    """`agree` of each measure and of its rival (`Scores.rival_of`, or the first measure) on the pairs
    for which it has scores.
    """
    data = scores.data
    tables = {
        column.name: scores.oriented(column).reshape(-1, len(data.systems))
        for column in scores.known
    }
    rows = []
    for index, number in enumerate(data.numbers, start=1):
        for column in scores.known:
            rival = scores.rival_of(column) or scores.known[0]
            both = tables[column.name][:, [0, index]]
            pairs = [pair for pair in data.complete(number) if np.isfinite(both[pair]).all()]
            weights = drawn_weights(len(pairs), resamples, seed)
            agreement = agree(both[pairs], tables[rival.name][pairs][:, [0, index]], weights, seed)
            names = {"n_errors": number, "column": column.name, "measure": column.label}
            rows.append({**names, "pairs": len(pairs), "than": rival.label, **agreement})
    columns = ["n_errors", "column", "measure", "pairs", "than"]
    return pd.DataFrame(rows, columns=None if rows else columns)


def mean(weights: Floats, values: npt.ArrayLike) -> Floats:
    """Means over the pairs, (d,), of the sample and then of each resample."""
    return ratio(weights @ np.asarray(values, dtype=np.float64), weights.sum(axis=1))


def agree(pairs: Floats, rival: Floats, weights: Floats, seed: int = 0) -> dict[str, float]:
    """The paper's Table 3 (section 4): does a measure distinguish clean summaries (1) from the same
    summaries with errors (0)?

    Args:
        pairs: the measure's scores of clean summaries and of the same with errors, finite, (d, 2);
            higher is better.
        rival: the scores of the measure with which it is compared.
        weights: how often the sample itself, and then each resample, contains each pair, (1 + n, d).
        seed: of the paired test.

    Returns:
        ``spearman`` and ``kendall_c``, the correlation with the labels over all summaries, NaN if all
        scores are equal; ``spearman_p_value`` (see `correlations.p_value`); ``behind``, how much
        lower its Spearman correlation is than the rival's; ``preferred``, the share of the pairs in
        which the clean summary scores higher, ties as one half; ``p_value`` of the mean difference
        within pairs by approximate randomization, two-sided.
    """
    judgements = np.repeat([1.0, 0.0], len(pairs))
    counts, rival_counts = (
        tally(weights=np.tile(weights, 2), scores=scores.T.ravel(), judgements=judgements)
        for scores in (pairs, rival)
    )
    spearman = METHODS["spearman"](counts)
    clean, corrupted = pairs.T
    p_value = approximate_randomization(clean, corrupted, seed=seed) if len(pairs) else 1.0
    drawn = {
        "spearman": spearman,
        "kendall_c": METHODS["kendall_c"](counts),
        "behind": METHODS["spearman"](rival_counts) - spearman,
        "preferred": mean(weights, (np.sign(clean - corrupted) + 1) / 2),
    }
    return {
        **with_intervals(drawn, widened=True),
        "spearman_p_value": correlations.p_value(
            pairs.T, judgements.reshape(2, -1), "summary", "spearman"
        ),
        "p_value": p_value,
    }
