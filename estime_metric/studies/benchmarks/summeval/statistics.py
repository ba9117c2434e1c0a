"""What is computed of scores on SummEval: correlations with the experts, and how much better or
worse measures from files correlate than ESTIME.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import OWN, ScoreColumn
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.frames import Frames, each_column
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.meta.correlations import UndefinedCorrelationError
from estime_metric.studies.meta.grid import Grid
from estime_metric.studies.meta.resampling import evaluate_all
from estime_metric.studies.meta.significance import bootstrap_difference, williams_test

#: What is computed: the paper's two levels and two statistics, and Pearson's r.
LEVELS = ("summary", "system")
METHODS = ("spearman", "kendall_c", "pearson")
CORRELATIONS, DIFFERENCES = "correlations.csv", "differences.csv"
_CORRELATIONS = ["quality", "level", "method", "value", "low", "high", "p_value", "undefined"]
_DIFFERENCES = ["than", "quality", "documents", "difference", "low", "high", "p_value"]


def analyze(scores: Scores[SummEval], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How well each measure agrees with each quality, with 95% intervals of a bootstrap over
    documents.

    ``correlations.csv``: ``column``, ``measure`` (its label), ``section``, ``quality``, ``level``,
    ``method``, ``value`` (NaN if all scores or all judgements are equal), ``low``, ``high``, and
    ``p_value`` (see `correlations.p_value`), and ``undefined``, the resamples without a value.
    ``differences.csv``, if there is a second setting or scores of files in addition to ESTIME: see
    `differences`.
    """

    def rows_of(column: ScoreColumn) -> list[dict[str, Any]]:
        grids = [scores.grid(column, quality) for quality in QUALITIES]
        agreement = evaluate_all(
            [grid for grid in grids if grid.documents],  # a file may lack a system for each
            levels=LEVELS,
            methods=METHODS,
            resample="documents",
            n=resamples,
            seed=seed,
        )
        rows: list[dict[str, Any]] = agreement.to_dict("records")
        return [{"quality": row["judgement"], **row} for row in rows]

    frames = {CORRELATIONS: each_column(scores, rows_of, _CORRELATIONS)}
    if len(compared := differences(scores, resamples, seed)):
        frames[DIFFERENCES] = compared
    return frames


def differences(scores: Scores[SummEval], resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Each measure from a file minus ESTIME's first row, and a second setting of ESTIME minus the
    first one, Spearman's rho at the summary level.

    Both are computed on the documents for which both score every system.

    Tidy: ``column``, ``measure``, ``section``, ``than`` (ESTIME's row), ``quality``, ``documents``,
    ``difference``, ``low``, ``high`` (bootstrap over documents) and ``p_value`` (Williams' test).
    There are no rows if there is nothing to compare or ESTIME was not computed; numbers are NaN if
    scores are constant or documents too few.
    """

    def rows_of(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        is_second_setting = bool(column.setting) and column.main
        rival = scores.rival_of(column) if is_second_setting or column.section == OWN else None
        if rival is None:
            return
        for quality in QUALITIES:
            first = scores.grid(column, quality, among=scores.values[rival.name])
            second = scores.grid(rival, quality, among=scores.values[column.name])
            names = {"than": rival.label, "quality": quality, "documents": len(first.documents)}
            yield {**names, **_compare(first, second, resamples, seed)}

    return each_column(scores, rows_of, _DIFFERENCES)


def _compare(first: Grid, second: Grid, resamples: int, seed: int) -> dict[str, float]:
    """The numbers of `differences` for one quality."""
    undefined = dict.fromkeys(("difference", "low", "high", "p_value"), float("nan"))
    if not first.documents:
        return undefined
    what: dict[str, Any] = {"level": "summary", "method": "spearman"}
    try:
        test = bootstrap_difference(
            first, second, **what, resample="documents", n=resamples, seed=seed
        )
        p_value = williams_test(first, second, **what).p_value
    except UndefinedCorrelationError:
        return undefined
    return {
        "difference": test.difference,
        "low": test.low,
        "high": test.high,
        "p_value": p_value,
    }
