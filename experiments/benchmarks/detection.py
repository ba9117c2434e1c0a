"""How well scores detect the inconsistent summaries of each part of labelled data, which have a column
``label``: 1 for a consistent summary, otherwise 0.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.table.arrays import Floats
from experiments.benchmarks.common import Run, interval_texts, with_interval
from experiments.benchmarks.statistics import (
    areas,
    balanced_accuracies,
    choose_threshold,
    f1_scores,
)

#: In place of a part: the mean of all parts, each with the same weight.
MEAN = "mean"
VALUES = ("area", "accuracy", "f1")

#: Summaries of a part with their ``score`` -> those that are reported, with ``predicted``, whether they
#: are classified as consistent (``None`` if that is not known).
Classify = Callable[[pd.DataFrame], pd.DataFrame]


def detect(
    table: pd.DataFrame,
    scores: pd.DataFrame,
    parts: Mapping[str, pd.Index],
    classify: Classify,
    groups: str,
    run: Run,
) -> pd.DataFrame:
    """A row for each measure and part, and for their `MEAN` if there are several: how many ``summaries``,
    the ``area`` under the ROC curve, the balanced ``accuracy`` and the ``f1`` of the inconsistent ones,
    each with the ends of its 95% interval of a bootstrap over ``groups``, a column of the table, that
    keeps the thresholds. A summary without a score is excluded.
    """
    weights = run.weights(table[groups])
    rows: list[dict[str, Any]] = []
    for measure, values in scores.items():
        scored = table.assign(score=values).dropna(subset="score")
        drawn = []
        for part, index in parts.items():
            reported = classify(scored.loc[scored.index.intersection(index, sort=False)])
            if len(reported):
                drawn.append(_values(reported, weights[:, reported.index]))
                rows.append(_row(measure, part, len(reported), drawn[-1]))
        if len(drawn) > 1:
            mean = {name: np.mean([one[name] for one in drawn], axis=0) for name in VALUES}
            total = sum(row["summaries"] for row in rows[-len(drawn) :])
            rows.append(_row(measure, MEAN, total, mean))
    return pd.DataFrame(rows)


def cross_validated(summaries: pd.DataFrame, fold: pd.Series) -> pd.DataFrame:
    """The summaries as `Classify` gives them: the threshold of each is the best one for the summaries
    of all other values of ``fold``, which has the rows of the table.
    """
    fold = fold[summaries.index]
    if fold.nunique() < 2:
        return summaries.assign(predicted=None)
    labels, scores = summaries["label"].to_numpy(), summaries["score"].to_numpy()
    predicted = np.zeros(len(summaries), dtype=bool)
    for value in fold.unique():
        held_out = (fold == value).to_numpy()
        threshold = choose_threshold(labels[~held_out], scores[~held_out])
        predicted[held_out] = scores[held_out] > threshold
    return summaries.assign(predicted=predicted)


def with_ends(frame: pd.DataFrame, value: str, decimals: int = 2) -> pd.DataFrame:
    """A row per measure: a column of one of `VALUES` for each part, and the interval of the last."""
    known = frame.dropna(subset=value)
    pivot = known.pivot(index="measure", columns="part", values=value)
    pivot = pivot.reindex(index=known["measure"].unique(), columns=known["part"].unique())
    last = known[known["part"] == pivot.columns[-1]].set_index("measure").reindex(pivot.index)
    return pivot.assign(**{"95%": interval_texts(last, value, decimals)})


def _row(measure: Any, part: str, count: int, values: Mapping[str, Floats]) -> dict[str, Any]:
    row = {"measure": measure, "part": part, "summaries": count}
    for name in VALUES:
        row |= with_interval(values[name], name)
    return row


def _values(reported: pd.DataFrame, weights: Floats) -> dict[str, Floats]:
    """Each of `VALUES` of the sample itself, then of every resample."""
    labels, scores = reported["label"].to_numpy(), reported["score"].to_numpy()
    accuracies = f1s = np.full(len(weights), np.nan)
    if reported["predicted"].notna().all():
        predicted = reported["predicted"].to_numpy(dtype=bool)
        accuracies = balanced_accuracies(labels, predicted, weights)
        f1s = f1_scores(labels, predicted, weights)
    return {"accuracy": accuracies, "f1": f1s, "area": areas(labels, scores, weights)}
