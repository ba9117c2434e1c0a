"""Benchmarks of labelled summaries: how well scores detect the inconsistent ones in each part of the data.

The table of their data has a column ``label``: 1 for a consistent summary, otherwise 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import PUBLISHED, ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Data
from estime_metric.studies.benchmarks.shared.frames import Frames, each_column, with_intervals
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import with_interval_texts
from estime_metric.studies.meta.ranks import Flags, ratio
from estime_metric.studies.tables import Column, Table
from estime_metric.table.arrays import Floats
from experiments.benchmarks.accuracy import areas, balanced_accuracies, choose_threshold
from experiments.benchmarks.resamples import Resamples
from experiments.benchmarks.tables import measure_table

DETECTION = "detection.csv"
#: In place of the names of a part: the mean of all parts, each with the same weight.
MEAN = "mean"
VALUES = ("accuracy", "f1", "area")

#: Summaries of a part with their ``score`` -> those that are reported, with ``predicted``, whether
#: they are classified as consistent, and the ``threshold`` behind that (NaN if there are several).
Classify = Callable[[pd.DataFrame], pd.DataFrame]


def detect(
    scores: Scores[Data],
    parts: Mapping[tuple[str, ...], pd.Index],
    by: Sequence[str],
    classify: Classify,
    *,
    unit: str,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Accuracies and areas of each measure in each part, and their mean if there are several parts.

    A tidy table: ``column``, ``measure``, ``section``, the names ``by`` of the part, ``summaries``,
    ``threshold``, and of each of `VALUES` the ends of the 95% interval too, ``NAME_low`` and
    ``NAME_high``: the balanced ``accuracy``, the ``f1`` of the inconsistent summaries, and the
    ``area`` under the ROC curve. Intervals come from a bootstrap that keeps the thresholds. A summary
    without a score is excluded for that measure.

    Args:
        scores: of the summaries.
        parts: the names of each part, and the rows of the data that belong to it.
        by: the columns that these names are in.
        classify: see `Classify`.
        unit: the column whose values are resampled, for example the documents.
        resamples, seed: as in `shared.benchmark.run`.
    """
    table = scores.data.table
    units = Resamples(table[unit], resamples, seed)

    def rows_of(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        scored = table.assign(score=scores.oriented(column)).dropna(subset="score")
        counts, drawn = [], []
        for names, rows in parts.items():
            reported = classify(scored.loc[scored.index.intersection(rows, sort=False)])
            if len(reported):
                values = _values(reported, units.weights(reported.index))
                yield {
                    **dict(zip(by, names, strict=True)),
                    "summaries": len(reported),
                    "threshold": reported["threshold"].iloc[0],
                    **with_intervals(values),
                }
                counts.append(len(reported))
                drawn.append(values)
        if len(drawn) > 1:
            means = {name: np.mean([values[name] for values in drawn], axis=0) for name in VALUES}
            names_of_mean = dict.fromkeys(by, MEAN)
            yield {**names_of_mean, "summaries": sum(counts), **with_intervals(means)}

    ends = [f"{name}{end}" for name in VALUES for end in ("", "_low", "_high")]
    return each_column(scores, rows_of, [*by, "summaries", "threshold", *ends])


def with_published(computed: pd.DataFrame, published: pd.DataFrame) -> Frames:
    """``detection.csv``: what `detect` computed, and below it published values, in rows that have the
    ``measure``, the part, and some of `VALUES`.
    """
    identified = published.assign(column="published:" + published["measure"], section=PUBLISHED)
    return {DETECTION: pd.concat([computed, identified], ignore_index=True)}


def cross_validated(summaries: pd.DataFrame, fold: str) -> pd.DataFrame:
    """The summaries as `Classify` gives them: the threshold of each is the one that is best for the
    summaries of all other values of the column ``fold`` (`choose_threshold`). With one value,
    nothing is ``predicted`` (``None``).
    """
    if summaries[fold].nunique() < 2:
        return summaries.assign(predicted=None, threshold=np.nan)
    labels, scores = summaries["label"].to_numpy(), summaries["score"].to_numpy()
    predicted = np.zeros(len(summaries), dtype=bool)
    for value in summaries[fold].unique():
        held_out = (summaries[fold] == value).to_numpy()
        threshold = choose_threshold(labels[~held_out], scores[~held_out])
        predicted[held_out] = scores[held_out] > threshold
    return summaries.assign(predicted=predicted, threshold=np.nan)


def f1_scores(labels: npt.NDArray[np.int64], predicted: Flags, weights: Floats) -> Floats:
    """F1 of the inconsistent summaries, (n,), of weightings (n, k), as in `balanced_accuracies`; NaN
    if there is none and none is found.
    """
    found, wrong = ~predicted, labels == 0
    both, either = (weights * mask for mask in (found & wrong, found | wrong))
    hits = both.sum(axis=1)
    return ratio(2 * hits, either.sum(axis=1) + hits)


def _values(reported: pd.DataFrame, weights: Floats) -> dict[str, Floats]:
    """Each of `VALUES` of the sample itself, then of every resample."""
    labels, scores = reported["label"].to_numpy(), reported["score"].to_numpy()
    accuracies = f1s = np.full(len(weights), np.nan)
    if reported["predicted"].notna().all():
        predicted = reported["predicted"].to_numpy(dtype=bool)
        accuracies = balanced_accuracies(labels, predicted, weights)
        f1s = f1_scores(labels, predicted, weights)
    return {"accuracy": accuracies, "f1": f1s, "area": areas(labels, scores, weights)}


def by_part(
    name: str,
    title: str,
    scores: Scores[Data],
    frame: pd.DataFrame,
    by: Sequence[str],
    value: str,
    columns: Mapping[tuple[str, ...], Column],
    notes: Sequence[str],
) -> Table:
    """A table of one of `VALUES`: a row per measure, a column for each part and, if there are several,
    their mean and its interval. ``columns`` are those of the parts, by their names.
    """
    shown = {(value, *part): column for part, column in columns.items()}
    if len(columns) > 1:
        mean = dict.fromkeys(by, MEAN).values()
        ends = Column("95% interval", MEAN, text=True)
        shown |= {(value, *mean): Column("value", MEAN), (f"{value}_interval", *mean): ends}
    known = frame.dropna(subset=value)
    texts = with_interval_texts(known, value)
    return measure_table(name, title, scores, texts, by, shown, notes)


def notes(scores: Scores[Any]) -> tuple[str, ...]:
    """What has to be known of the numbers, for below the tables."""
    return (
        "Mean: of the parts, each with the same weight. (-): the score is negated, so that higher is better in every "
        "row. Intervals: percentiles of a bootstrap over documents, with the thresholds kept. Chance: .5.",
        *scores.gaps,
        *scores.remarks,
    )
