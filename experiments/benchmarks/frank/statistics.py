"""What is computed of scores on FRANK: correlations with judged factuality, differences to the best
measure, and the ablation by type of error.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import (
    IDS,
    Frames,
    each_column,
    with_interval,
)
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.meta.significance import williams
from estime_metric.table.arrays import Floats, group_codes
from experiments.benchmarks.frank.data import DATASETS, FLIP
from experiments.benchmarks.frank.partial import (
    METHODS,
    partial_correlation,
    weighted_partial,
)
from experiments.benchmarks.resamples import Resamples

#: All summaries, or the summaries of one dataset.
PARTS = ("all", *DATASETS)
#: The correlation controls for the system, or not.
KINDS = ("partial", "plain")
CORRELATIONS, DIFFERENCES, ABLATION = "correlations.csv", "differences.csv", "ablation.csv"
#: Two measures with a correlation up to this value are each other's opposite.
_OPPOSITE = -1 + 1e-12


def part_name(part: str) -> str:
    """A part as readers know it: ``all``, ``CNN/DailyMail``, ``XSum``."""
    return DATASETS.get(part, part)


def analyze(scores: Scores[Summaries], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """Correlations with factuality, differences to the best, and the ablation by type of error.

    Intervals come from a bootstrap over documents, the same ones for every measure. A summary
    without a score is excluded for that measure.

    ``correlations.csv``: ``column``, ``measure`` (its label), ``section``, ``part`` (one of
    `PARTS`), ``kind`` (one of `KINDS`), ``method``, ``value`` (NaN if scores or judgements are
    constant), ``low``, ``high``, ``summaries`` (with a score) and ``undefined``, the resamples
    without a value. ``differences.csv`` and ``ablation.csv``: see `differences`, `ablation`.
    """
    table = scores.data.table
    documents = Resamples(table["document"], resamples, seed)

    def correlate(inside: pd.DataFrame, values: Floats, judgement: str, method: str) -> Floats:
        """The correlation of the sample, then of each resample, over some summaries."""
        return weighted_partial(
            documents.weights(inside.index),
            values[inside.index],
            inside[judgement].to_numpy(),
            group_codes(inside["system"], len(inside)),
            method,
        )

    def correlations(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        values = scores.oriented(column)
        for part, kind, method in product(PARTS, KINDS, METHODS):
            inside = _inside(table, part, values)
            if kind == "plain":
                inside = inside.assign(system="all")  # nothing to control for
            drawn = correlate(inside, values, "factuality", method)
            yield {
                "part": part,
                "kind": kind,
                "method": method,
                **with_interval(drawn),
                "summaries": len(inside),
                "undefined": int(np.isnan(drawn[1:]).sum()),
            }

    def ablation(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        values = scores.oriented(column)
        for part in PARTS:
            inside = _inside(table, part, values)
            whole = correlate(inside, values, "factuality", "pearson")
            for name in flipped:
                without = correlate(inside, values, name, "pearson")
                error = name.removeprefix(FLIP)
                yield {"part": part, "error": error, **with_interval(whole - without)}

    flipped = [name for name in table if name.startswith(FLIP)]
    interval = ["value", "low", "high"]
    names = ["part", "kind", "method", *interval, "summaries", "undefined"]
    frame = each_column(scores, correlations, names)
    return {
        CORRELATIONS: frame,
        DIFFERENCES: differences(scores, frame),
        ABLATION: each_column(scores, ablation, ["part", "error", *interval]),
    }


def differences(scores: Scores[Summaries], correlations: pd.DataFrame) -> pd.DataFrame:
    """Each measure against the one with the highest partial correlation, by Williams' test, which
    treats summaries as independent draws; the number of systems is subtracted from its degrees of
    freedom.

    Tidy: ``column``, ``measure``, ``section``, ``part``, ``method``, ``best`` (the column of the best),
    ``difference`` (its correlation minus this one's, over the summaries that both score) and the
    two-sided ``p_value``; NaN if there is none.
    """
    rows: list[dict[str, Any]] = []
    known = {column.name: scores.oriented(column) for column in scores.known}
    partial = correlations[correlations["kind"] == "partial"].dropna(subset="value")
    for (part, method), group in partial.groupby(["part", "method"], sort=False):
        best = group.loc[group["value"].idxmax(), "column"]
        for ids in group[IDS].to_dict("records"):
            names = {**ids, "part": part, "method": method, "best": best}
            values = known[ids["column"]]
            rows.append({**names, **compare(scores.data, known[best], values, part, method)})
    return pd.DataFrame(rows, columns=[*IDS, "part", "method", "best", "difference", "p_value"])


def compare(
    data: Summaries, first: Floats, second: Floats, part: str, method: str
) -> dict[str, float]:
    """How much higher the first measure's partial correlation with factuality is than the second's,
    over the summaries that both score, and the two-sided ``p_value``; NaN if there is no value.
    """
    inside = _inside(data.table, part, first, second)
    items = len(inside) - max(0, inside["system"].nunique() - 1)
    nothing = {"difference": float("nan"), "p_value": float("nan")}
    if items < 4:
        return nothing
    columns = (first[inside.index], second[inside.index], inside["factuality"])
    between, first_value, second_value = (
        partial_correlation(x, y, inside["system"], method=method)
        for x, y in combinations(columns, 2)
    )
    if np.isnan([first_value, second_value, between]).any() or between <= _OPPOSITE:
        return nothing
    test = williams(first_value, second_value, between, items)
    return {"difference": first_value - second_value, "p_value": test.p_value}


def _inside(table: pd.DataFrame, part: str, *columns: Floats) -> pd.DataFrame:
    """The summaries of a part that have a score in all columns."""
    known = np.isfinite(columns).all(axis=0)
    return table[known if part == "all" else known & (table["dataset"] == part)]
