"""What is computed of scores on BUMP: consistency, areas under the ROC curve, and paired tests.

Axes: N pairs, n resamples of the articles. All shares are in percent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames, each_column, with_interval
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.meta.ranks import ratio
from estime_metric.studies.meta.significance import p_of_sign
from estime_metric.table.arrays import Floats
from experiments.benchmarks.accuracy import areas
from experiments.benchmarks.bump.data import EDITED, REFERENCE, error_types
from experiments.benchmarks.resamples import Resamples

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


def pair_scores(scores: Scores[Summaries], column: ScoreColumn) -> pd.DataFrame:
    """The scores of a measure, higher is better: a row for each pair, with `REFERENCE` and `EDITED`,
    NaN if there is none.
    """
    values = scores.oriented(column).reshape(-1, 2)
    return pd.DataFrame(values, columns=[REFERENCE, EDITED])


def preferred(pairs: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether the reference of each pair has the better score, strictly."""
    return np.asarray(pairs[REFERENCE] > pairs[EDITED])


def analyze(scores: Scores[Summaries], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """Consistency and area of each measure, over all pairs and by type of error, and paired tests.

    Intervals come from a bootstrap over articles, the same ones for every measure. If a summary of
    a pair lacks a score, the pair is excluded for that measure.

    ``consistency.csv``: ``column``, ``measure``, ``section``, ``error`` (`ALL` or a type),
    ``pairs``, ``ties`` (pairs with two equal scores, which count as misses), ``consistency``
    (percent of the pairs in which the reference has the better score), ``area`` (area under the ROC
    curve over the references and the edited summaries of these pairs, in percent), and of both the
    ends of the 95% interval, ``NAME_low`` and ``NAME_high``. ``tests.csv``: see `tests`.
    """
    pairs_table = scores.data.table.iloc[::2].reset_index(drop=True)
    articles, errors = Resamples(pairs_table["article"], resamples, seed), pairs_table["error"]

    def rows_of(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        known = pair_scores(scores, column).dropna()
        for error in (ALL, *error_types(errors)):
            pairs = known if error == ALL else known[errors[known.index] == error]
            weights = articles.weights(pairs.index)
            yield {
                "error": error,
                "pairs": len(pairs),
                "ties": int((pairs[REFERENCE] == pairs[EDITED]).sum()),
                **with_interval(consistency(pairs, weights), "consistency"),
                **with_interval(area(pairs, weights), "area"),
            }

    names = ["error", "pairs", "ties", "consistency", "consistency_low", "consistency_high"]
    frame = each_column(scores, rows_of, [*names, "area", "area_low", "area_high"])
    return {CONSISTENCY: frame, TESTS: tests(scores, articles)}


def consistency(pairs: pd.DataFrame, weights: Floats) -> Floats:
    """Per cent of the pairs in which the reference has the better score, for each row of
    ``weights``, (n, pairs); NaN of no pair.
    """
    return 100 * ratio((weights * preferred(pairs)).sum(axis=1), weights.sum(axis=1))


def area(pairs: pd.DataFrame, weights: Floats) -> Floats:
    """Area under the ROC curve in percent: references against edited summaries, of any two pairs."""
    labels = np.repeat([1, 0], len(pairs))
    values = np.concatenate([pairs[REFERENCE], pairs[EDITED]])
    return 100 * areas(labels, values, np.tile(weights, 2))


def tests(scores: Scores[Summaries], articles: Resamples) -> pd.DataFrame:
    """Each measure that was computed or read from a file against each published one.

    Tidy: ``column``, ``other`` (the column of the published measure), ``difference`` of the
    consistencies in points, over the pairs that both score, with the ends of its interval,
    ``difference_low`` and ``difference_high``, and the two-sided ``p_bootstrap`` of the paired
    bootstrap over articles; ``only_first`` and ``only_second``, the pairs in which one of the two
    alone prefers the reference; and ``p_mcnemar``, the exact two-sided test of McNemar, which
    treats pairs as independent. ``nearest``: whether no other published measure has a consistency
    closer to this one's.
    """
    by_column = {column: pair_scores(scores, column) for column in scores.known}
    rows = [
        {"column": column.name, "other": other.name, **compare(pairs, others, articles)}
        for column, pairs in by_column.items()
        for other, others in by_column.items()
        if column.section != PUBLISHED and other.section == PUBLISHED
    ]
    frame = pd.DataFrame(rows, columns=_TESTS[:-1])
    distance = frame["difference"].abs()
    return frame.assign(nearest=distance == distance.groupby(frame["column"]).transform("min"))


def compare(first: pd.DataFrame, second: pd.DataFrame, articles: Resamples) -> dict[str, Any]:
    """Both tests of two measures' consistency, see `tests`; NaN if no pair has scores of both, and from
    the bootstrap if there is one article, which every resample repeats.
    """
    both = first.notna().all(axis=1) & second.notna().all(axis=1)
    first, second = first[both], second[both]
    weights = articles.weights(first.index)
    drawn = consistency(first, weights) - consistency(second, weights)
    ours, theirs = preferred(first), preferred(second)
    only_first, only_second = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    discordant = only_first + only_second
    mcnemar = stats.binomtest(only_first, discordant).pvalue if discordant else 1.0
    difference = with_interval(drawn, "difference")
    has_interval = np.isfinite(difference["difference_low"])
    return {
        **difference,
        "p_bootstrap": p_of_sign(drawn[1:]) if has_interval else float("nan"),
        "only_first": only_first,
        "only_second": only_second,
        "p_mcnemar": float(mcnemar) if len(first) else float("nan"),
    }
