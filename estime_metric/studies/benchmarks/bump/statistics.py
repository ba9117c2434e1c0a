"""What is computed of scores on BUMP: consistency, areas under the ROC curve, and paired tests.

Axes: N pairs, n resamples of the articles. All shares are in percent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import areas
from estime_metric.stats.paired import p_of_sign
from estime_metric.stats.ranks import ratio
from estime_metric.studies.benchmarks.bump.data import Bump
from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, ScoreColumn
from estime_metric.studies.benchmarks.shared.frames import (
    Frames,
    Resamples,
    each_column,
    with_interval,
)
from estime_metric.studies.benchmarks.shared.scores import Scores

#: In place of a type of error: all pairs.
ALL = "all"
CONSISTENCY, TESTS = "consistency.csv", "tests.csv"
_TESTS = [
    "column",
    "other",
    "difference",
    "difference_low",
    "difference_high",
    "p_bootstrap",
    "only_first",
    "only_second",
    "p_mcnemar",
    "nearest",
]


@dataclass(frozen=True, eq=False)
class PairScores:
    """The scores of one measure, higher is better: of the reference and of the edited summary of
    each pair, float64 of shape (N,); NaN if there is none.
    """

    reference: Floats
    edited: Floats

    @property
    def known(self) -> npt.NDArray[np.int64]:
        """Indices of the pairs with both scores."""
        return np.flatnonzero(np.isfinite(self.reference) & np.isfinite(self.edited))

    @property
    def preferred(self) -> npt.NDArray[np.bool_]:
        """Whether the reference has the better score, strictly; of shape (N,)."""
        return np.greater(self.reference, self.edited)

    @property
    def tied(self) -> npt.NDArray[np.bool_]:
        """Whether both have the same score; of shape (N,)."""
        return np.equal(self.reference, self.edited)


def pair_scores(scores: Scores[Bump], column: ScoreColumn) -> PairScores:
    """The scores of a measure by pair."""
    values = scores.oriented(column).reshape(-1, 2)
    return PairScores(reference=values[:, 0], edited=values[:, 1])


def analyze(scores: Scores[Bump], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """Consistency and area of each measure, over all pairs and by type of error, and paired tests.

    Intervals come from a bootstrap over articles, the same ones for every measure. If a summary of
    a pair lacks a score, the pair is excluded for that measure.

    ``consistency.csv``: ``column``, ``measure``, ``section``, ``error`` (`ALL` or a type),
    ``pairs``, ``ties`` (pairs with two equal scores, which count as misses), ``consistency``
    (percent of the pairs in which the reference has the better score), ``area`` (area under the ROC
    curve over the references and the edited summaries of these pairs, in percent), and of both the
    ends of the 95% interval, ``NAME_low`` and ``NAME_high``. ``tests.csv``: see `tests`.
    """
    data, articles = scores.data, Resamples(scores.data.articles, resamples, seed)
    errors = np.array(data.errors)

    def of_column(column: ScoreColumn) -> pd.DataFrame:
        pairs = pair_scores(scores, column)
        rows = []
        for error in (ALL, *data.error_types):
            inside = pairs.known if error == ALL else pairs.known[errors[pairs.known] == error]
            weights = articles.weights(inside)
            rows.append(
                {
                    "error": error,
                    "pairs": len(inside),
                    "ties": int(pairs.tied[inside].sum()),
                    **with_interval(consistency(pairs, inside, weights), "consistency"),
                    **with_interval(area(pairs, inside, weights), "area"),
                }
            )
        return pd.DataFrame(rows)

    names = ["error", "pairs", "ties", "consistency", "consistency_low", "consistency_high"]
    frame = each_column(scores, of_column, [*names, "area", "area_low", "area_high"])
    return {CONSISTENCY: frame, TESTS: tests(scores, articles)}


def consistency(pairs: PairScores, inside: npt.NDArray[np.int64], weights: Floats) -> Floats:
    """Per cent of some pairs in which the reference has the better score, for each row of
    ``weights``, (n, pairs); NaN of no pair.
    """
    return 100 * ratio((weights * pairs.preferred[inside]).sum(axis=1), weights.sum(axis=1))


def area(pairs: PairScores, inside: npt.NDArray[np.int64], weights: Floats) -> Floats:
    """Area under the ROC curve in percent: references against edited summaries, of any two pairs."""
    labels = np.repeat([1, 0], len(inside))
    values = np.concatenate([pairs.reference[inside], pairs.edited[inside]])
    return 100 * areas(labels, values, np.tile(weights, 2))


def tests(scores: Scores[Bump], articles: Resamples) -> pd.DataFrame:
    """Each measure that was computed or read from a file against each published one.

    Tidy: ``column``, ``other`` (the column of the published measure), ``difference`` of the
    consistencies in points, over the pairs that both score, with the ends of its interval,
    ``difference_low`` and ``difference_high``, and the two-sided ``p_bootstrap`` of the paired
    bootstrap over articles; ``only_first`` and ``only_second``, the pairs in which one of the two
    alone prefers the reference; and ``p_mcnemar``, the exact two-sided test of McNemar, which
    treats pairs as independent. ``nearest``: whether no other published measure has a consistency
    closer to this one's.
    """
    by_pair = {column.name: pair_scores(scores, column) for column in scores.known}
    published = [column for column in scores.known if column.section == PUBLISHED]
    rows: list[dict[str, Any]] = []
    for column in scores.known:
        if column.section == PUBLISHED:
            continue
        compared = [
            {
                "column": column.name,
                "other": other.name,
                **compare(by_pair[column.name], by_pair[other.name], articles),
            }
            for other in published
        ]
        distances = [abs(row["difference"]) for row in compared if not np.isnan(row["difference"])]
        least = min(distances, default=np.nan)
        rows += [{**row, "nearest": abs(row["difference"]) == least} for row in compared]
    return pd.DataFrame(rows, columns=_TESTS)


def compare(first: PairScores, second: PairScores, articles: Resamples) -> dict[str, Any]:
    """Both tests of two measures' consistency, see `tests`; NaN if no pair has scores of both."""
    inside = np.intersect1d(first.known, second.known)
    weights = articles.weights(inside)
    drawn = consistency(first, inside, weights) - consistency(second, inside, weights)
    ours, theirs = first.preferred[inside], second.preferred[inside]
    only_first, only_second = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    discordant = only_first + only_second
    mcnemar = stats.binomtest(only_first, discordant).pvalue if discordant else 1.0
    return {
        **with_interval(drawn, "difference"),
        "p_bootstrap": p_of_sign(drawn[1:]) if len(inside) else float("nan"),
        "only_first": only_first,
        "only_second": only_second,
        "p_mcnemar": float(mcnemar) if len(inside) else float("nan"),
    }
