"""What is computed of scores on FRANK: correlations with judged factuality, differences to the best
measure, and the ablation by type of error.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.stats.checks import Floats
from estime_metric.studies.benchmarks.frank.data import DATASETS, Frank
from estime_metric.studies.benchmarks.frank.partial import METHODS, codes_of, weighted_partial
from estime_metric.studies.benchmarks.shared.frames import (
    IDS,
    Frames,
    Resamples,
    each_column,
    ids_of,
    with_interval,
)
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.meta.significance import williams

#: All summaries, or the summaries of one dataset.
PARTS = ("all", *DATASETS)
#: The correlation controls for the system, or not.
KINDS = ("partial", "plain")
CORRELATIONS, DIFFERENCES, ABLATION = "correlations.csv", "differences.csv", "ablation.csv"
#: Weights of the resamples that are computed together: 8 MB of float64.
_TOGETHER = 1_000_000
#: Two measures with a correlation up to this value are each other's opposite.
_OPPOSITE = -1 + 1e-12

Indices = npt.NDArray[np.int64]


def part_name(part: str) -> str:
    """A part as readers know it: ``all``, ``CNN/DailyMail``, ``XSum``."""
    return DATASETS.get(part, part)


def analyze(scores: Scores[Frank], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """Correlations with factuality, differences to the best, and the ablation by type of error.

    Intervals come from a bootstrap over documents, the same ones for every measure. A summary
    without a score is excluded for that measure.

    ``correlations.csv``: ``column``, ``measure`` (its label), ``section``, ``part`` (one of
    `PARTS`), ``kind`` (one of `KINDS`), ``method``, ``value`` (NaN if scores or judgements are
    constant), ``low``, ``high``, ``summaries`` (with a score) and ``undefined``, the resamples
    without a value. ``differences.csv`` and ``ablation.csv``: see `differences`, `ablation`.
    """
    documents = Resamples([key.document for key in scores.data.keys], resamples, seed)
    judged = _Judged(scores.data, documents)
    names = ["part", "kind", "method", "value", "low", "high", "summaries", "undefined"]
    correlations = each_column(
        scores, lambda column: _correlations(judged, scores.oriented(column)), names
    )
    return {
        CORRELATIONS: correlations,
        DIFFERENCES: differences(scores, correlations),
        ABLATION: ablation(scores, judged),
    }


@dataclass(frozen=True)
class _Judged:
    """The judged summaries, and resamples of their documents."""

    data: Frank
    documents: Resamples

    def correlation(
        self, values: Floats, judgements: Floats, inside: Indices, kind: str, method: str
    ) -> Floats:
        """The correlation of the sample, then of each resample, over the summaries ``inside``."""
        categories = _systems_of(self.data, inside)
        return _correlate(
            weights=self.documents.weights(inside),
            values=values[inside],
            judgements=judgements[inside],
            categories=categories if kind == "partial" else np.zeros_like(categories),
            method=method,
        )


def _correlations(judged: _Judged, values: Floats) -> pd.DataFrame:
    """One measure's rows of ``correlations.csv``."""
    rows = []
    for part in PARTS:
        inside = _inside(judged.data, part, values)
        for kind, method in product(KINDS, METHODS):
            drawn = judged.correlation(values, judged.data.factuality, inside, kind, method)
            names = {"part": part, "kind": kind, "method": method}
            counts = {"summaries": len(inside), "undefined": int(np.isnan(drawn[1:]).sum())}
            rows.append({**names, **with_interval(drawn), **counts})
    return pd.DataFrame(rows)


def ablation(scores: Scores[Frank], judged: _Judged) -> pd.DataFrame:
    """The partial Pearson correlation minus the one with the labels of a type of error flipped: the
    higher, the more of the agreement rests on errors of the type (Pagnoni et al. 2021, section
    5.3).

    Tidy: ``column``, ``measure``, ``section``, ``part``, ``error``, ``value``, ``low``, ``high``.
    """
    data = judged.data
    rows = []
    for column in scores.known:
        values = scores.oriented(column)
        for part in PARTS:
            inside = _inside(data, part, values)
            whole = judged.correlation(values, data.factuality, inside, "partial", "pearson")
            for error, flipped in data.flipped.items():
                without = judged.correlation(values, flipped, inside, "partial", "pearson")
                row = {**ids_of(column), "part": part, "error": error}
                rows.append({**row, **with_interval(whole - without)})
    return pd.DataFrame(rows, columns=[*IDS, "part", "error", "value", "low", "high"])


def differences(scores: Scores[Frank], correlations: pd.DataFrame) -> pd.DataFrame:
    """Each measure against the one with the highest partial correlation, by Williams' test, which
    treats summaries as independent draws; the number of systems is subtracted from its degrees of
    freedom.

    Tidy: ``column``, ``part``, ``method``, ``best`` (the column of the best), ``difference`` (its
    correlation minus this one's, over the summaries that both score) and the two-sided ``p_value``;
    NaN if there is none.
    """
    rows: list[dict[str, Any]] = []
    known = {column.name: scores.oriented(column) for column in scores.known}
    partial = correlations[correlations["kind"] == "partial"].dropna(subset="value")
    for (part, method), group in partial.groupby(["part", "method"], sort=False):
        best = group.loc[group["value"].idxmax(), "column"]
        for column in group["column"]:
            names = {"column": column, "part": part, "method": method, "best": best}
            rows.append({**names, **compare(scores.data, known[best], known[column], part, method)})
    return pd.DataFrame(rows, columns=["column", "part", "method", "best", "difference", "p_value"])


def compare(data: Frank, first: Floats, second: Floats, part: str, method: str) -> dict[str, float]:
    """How much higher the first measure's partial correlation with factuality is than the second's,
    over the summaries that both score, and the two-sided ``p_value``; NaN if there is no value.
    """
    inside = _inside(data, part, first, second)
    systems = _systems_of(data, inside)

    def correlation(one: Floats, other: Floats) -> float:
        sample = np.ones((1, len(inside)))
        return float(_correlate(sample, one[inside], other[inside], systems, method)[0])

    of_first = correlation(first, data.factuality)
    of_second = correlation(second, data.factuality)
    between = correlation(first, second)
    items = len(inside) - max(systems, default=0)
    undefined = np.isnan([of_first, of_second, between]).any()
    if undefined or items < 4 or between <= _OPPOSITE:
        return {"difference": float("nan"), "p_value": float("nan")}
    test = williams(of_first, of_second, between, items)
    return {"difference": of_first - of_second, "p_value": test.p_value}


def _correlate(
    weights: Floats, values: Floats, judgements: Floats, categories: Indices, method: str
) -> Floats:
    """The correlation for each row of weights, some rows at a time."""
    if not len(values):
        return np.full(len(weights), np.nan)
    step = max(1, _TOGETHER // len(values))
    some = (weights[first : first + step] for first in range(0, len(weights), step))
    return np.concatenate(
        [weighted_partial(rows, values, judgements, categories, method) for rows in some]
    )


def _inside(data: Frank, part: str, *columns: Floats) -> Indices:
    """Indices of the summaries of a part that have a score in all columns."""
    inside = np.ones(len(data), dtype=bool) if part == "all" else np.array(data.datasets) == part
    return np.flatnonzero(inside & np.isfinite(columns).all(axis=0))


def _systems_of(data: Frank, inside: Indices) -> Indices:
    """A number for the system of each of some summaries."""
    return codes_of([data.keys[index].system for index in inside])
