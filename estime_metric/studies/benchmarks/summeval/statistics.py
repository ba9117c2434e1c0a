"""What is computed of scores on SummEval: correlations with the experts, and how much better or
worse measures from files correlate than ESTIME.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import OWN, REFERENCE_BASED, REFERENCE_FREE
from estime_metric.studies.benchmarks.shared.estime_paper import CORRELATIONS as PRINTED
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.estime_paper import (
    REFERENCE_FREE as PRINTED_REFERENCE_FREE,
)
from estime_metric.studies.benchmarks.shared.running import Frames
from estime_metric.studies.benchmarks.shared.scored import Scored, with_paper
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.meta.correlations import UndefinedCorrelationError
from estime_metric.studies.meta.grid import Grid
from estime_metric.studies.meta.resampling import evaluate_all
from estime_metric.studies.meta.significance import bootstrap_difference, williams_test

#: What is computed: the paper's two levels and two statistics, and Pearson's r.
LEVELS = ("summary", "system")
METHODS = ("spearman", "kendall_c", "pearson")
CORRELATIONS, DIFFERENCES = "correlations.csv", "differences.csv"
_DIFFERENCE = ("difference", "low", "high", "p_value")
_NUMBERS = ["value", "low", "high", "p_value", "undefined"]


def analyze(scored: Scored[SummEval], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How well each measure agrees with each quality, with 95% intervals of a bootstrap over
    documents.

    ``correlations.csv``: ``column``, ``measure`` (its label), ``section``, ``quality``, ``level``,
    ``method``, ``value`` (NaN if all scores or all judgements are equal, and without a score for each
    system), ``low``, ``high``, and ``p_value`` (see `correlations.p_value`), ``undefined``, the
    resamples without a value, ``documents``, how many have a score of every system and are used, and
    ``paper``, the figure that the paper prints.
    ``differences.csv``, if there is a second setting or scores of files in addition to ESTIME: see
    `differences`.
    """
    keys = {"quality": QUALITIES, "level": LEVELS, "method": METHODS}
    rows: list[dict[str, Any]] = []
    for column in scored.analyzed():
        grids = [scored.grid(column, quality) for quality in QUALITIES]
        agreement = evaluate_all(
            [grid for grid in grids if grid.documents],
            levels=LEVELS,
            methods=METHODS,
            resample="documents",
            n=resamples,
            seed=seed,
        ).rename(columns={"judgement": "quality"})
        agreement = agreement[[*keys, *_NUMBERS]].assign(
            column=column.name, documents=len(grids[0].documents)
        )
        rows += agreement.to_dict("records")
    table = scored.tidy(rows, [*_NUMBERS, "documents"], **keys)
    correlations = with_paper(table, _printed(), list(keys))
    frames = {CORRELATIONS: correlations.astype(dict.fromkeys(("undefined", "documents"), "Int64"))}
    if len(compared := differences(scored, resamples, seed)):
        frames[DIFFERENCES] = compared
    return frames


def differences(scored: Scored[SummEval], resamples: int, seed: int) -> pd.DataFrame:
    """Each measure from a file minus ESTIME's first row, and a second setting of ESTIME minus the
    first one, Spearman's rho at the summary level.

    Both are computed on the documents for which both score every system.

    Tidy: ``column``, ``measure``, ``section``, ``than`` (ESTIME's row), ``quality``, ``documents``,
    ``difference``, ``low``, ``high`` (bootstrap over documents) and ``p_value`` (Williams' test).
    There are no rows if there is nothing to compare or ESTIME was not computed; numbers are NaN if
    scores are constant or documents too few.
    """
    rows = []
    for column in scored.analyzed():
        is_second_setting = bool(column.setting) and column.main
        rival = scored.rival_of(column) if is_second_setting or column.section == OWN else None
        if rival is None:
            continue
        for quality in QUALITIES:
            first = scored.grid(column, quality, among=rival)
            second = scored.grid(rival, quality, among=column)
            names = {"column": column.name, "measure": column.label, "section": column.section}
            names |= {"than": rival.label, "quality": quality}
            numbers = _compare(first, second, resamples, seed)
            rows.append({**names, "documents": len(first.documents), **numbers})
    return pd.DataFrame(rows)


def _compare(first: Grid, second: Grid, resamples: int, seed: int) -> dict[str, float]:
    """The numbers of `differences` for one quality."""
    what: dict[str, Any] = {"level": "summary", "method": "spearman"}
    try:
        test = bootstrap_difference(
            first, second, **what, resample="documents", n=resamples, seed=seed
        )
        p_value = williams_test(first, second, **what).p_value
    except UndefinedCorrelationError:
        return dict.fromkeys(_DIFFERENCE, float("nan"))
    numbers = test._replace(p_value=p_value)._asdict()
    return {name: numbers[name] for name in _DIFFERENCE}


def _printed() -> pd.DataFrame:
    """Tables 1 and 2 of the paper, tidy."""
    printed = PRINTED.melt(ignore_index=False, value_name="paper").reset_index()
    is_free = printed["measure"].isin(PRINTED_REFERENCE_FREE)
    return printed.assign(section=is_free.map({True: REFERENCE_FREE, False: REFERENCE_BASED}))
