"""Bootstrap intervals of the correlations: which value would another choice of documents or systems
have given?

A resample draws documents, systems, or both with replacement; ``both`` is crossed: every drawn
system with every drawn document (BOOT-BOTH of Deutsch, Dror & Roth 2021; Steen & Markert 2022,
Table 3), which ``scipy.stats.bootstrap`` cannot do. What is drawn twice counts twice, and its
copies are tied. A resample is a row of weights, see `concordance`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice, integer
from estime_metric.studies.meta.concordance import METHODS
from estime_metric.studies.meta.correlations import (
    LEVELS,
    observed,
    p_value,
    sample_count,
    weighted,
)
from estime_metric.studies.meta.grid import Grid
from estime_metric.table.arrays import Floats
from estime_metric.table.intervals import interval_of

RESAMPLES = ("documents", "systems", "both")  # what can be resampled
_TOGETHER = (
    1_000_000  # numbers in the weights of the resamples that are computed together: 8 MB of float64
)

#: Columns of `bootstrap`, and of `evaluate_all`.
_STATISTICS = [
    "level",
    "method",
    "value",
    "low",
    "high",
    "p_value",
    "groups",
    "left_out",
    "undefined",
]
_AGREEMENT = ["measure", "judgement", *_STATISTICS]


class Samples(NamedTuple):
    """How often each of n resamples draws each of the D ``documents`` and S ``systems``: float64 of
    shapes (n, D) and (n, S), NaN for a single one; ``None`` for what is not drawn.
    """

    documents: Floats | None
    systems: Floats | None


def draw(shape: tuple[int, int], resample: str, n: int, seed: int) -> Samples:
    """Draws n resamples of the documents, the systems or both of a table of ``shape`` (D, S).
    Documents are drawn first, by ``numpy.random.default_rng(seed).integers(D, size=(n, D))``.
    """
    check_choice("resample", resample, RESAMPLES)
    integer("n", n, 1)
    if 0 in shape:
        raise ValueError(
            f"Expected at least one document and one system to resample, but got {shape}."
        )
    rng = np.random.default_rng(seed)
    documents, systems = shape
    return Samples(
        documents=_counts(rng, n, documents) if resample != "systems" else None,
        systems=_counts(rng, n, systems) if resample != "documents" else None,
    )


def draw_items(items: int, n: int, seed: int) -> Floats:
    """How often each of n resamples draws each of some items of one kind: float64 of shape (n,
    items); the same as the documents of `draw`.
    """
    documents = draw((items, 1), "documents", n, seed).documents
    assert documents is not None
    return documents


def _counts(rng: np.random.Generator, n: int, size: int) -> Floats:
    """Rows of how often each of ``size`` things was drawn in ``size`` draws; NaN for a single one: all
    its resamples are itself, so an interval of them would have no width, as if it were certain.
    """
    if size == 1:
        return np.full((n, 1), np.nan)
    drawn = rng.integers(size, size=(n, size)) + np.arange(n)[:, None] * size
    return np.bincount(drawn.ravel(), minlength=n * size).reshape(n, size).astype(np.float64)


def resampled(
    grid: Grid, samples: Samples, levels: Iterable[str], methods: Iterable[str]
) -> dict[str, Floats]:
    """level -> the statistics of every resample of `draw`, float64 of shape (methods, resamples),
    NaN if there is none; in chunks, so that memory does not grow with their number."""
    methods, rows = list(methods), sample_count(*samples)
    parts: dict[str, list[Floats]] = {level: [] for level in levels}
    step = max(1, _TOGETHER // max(1, grid.scores.size))
    for first in range(0, rows, step):
        chunk = [None if drawn is None else drawn[first : first + step] for drawn in samples]
        for level, values in parts.items():
            by_method = weighted(grid.scores, grid.judgements, level, methods, *chunk)
            values.append(np.stack([by_method[method] for method in methods]))
    return {level: np.concatenate(values, axis=1) for level, values in parts.items()}


def bootstrap(
    grid: Grid,
    *,
    levels: Iterable[str] = tuple(LEVELS),
    methods: Iterable[str] = tuple(METHODS),
    resample: str = "both",
    n: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Correlations with 95% percentile intervals, for some of `LEVELS` and of `METHODS`.

    Args:
        resample: ``"documents"``, ``"systems"`` or ``"both"``, see the module.
        n: number of resamples.
        seed: the same seed draws the same documents and systems for every measure.

    Returns:
        One row for each level and method: ``level``, ``method``, ``value``, ``low``, ``high`` (NaN
        if undefined, and if there is only one document or system to resample); ``p_value``, see
        `correlations.p_value`; ``groups``, ``left_out`` as in `Correlation`; ``undefined``, resamples
        without a value, which the interval excludes.
    """
    levels, methods = list(levels), list(methods)
    for level in levels:
        check_choice("levels", level, LEVELS)
    for method in methods:
        check_choice("methods", method, METHODS)
    drawn = resampled(grid, draw(grid.scores.shape, resample, n, seed), levels, methods)
    rows = []
    for level in levels:
        values = observed(grid.scores, grid.judgements, level, methods)
        for method, samples in zip(methods, drawn[level], strict=True):
            around = interval_of(samples)
            rows.append(
                {
                    "level": level,
                    "method": method,
                    "value": values[method].value,
                    "low": around.low,
                    "high": around.high,
                    "p_value": p_value(grid.scores, grid.judgements, level, method),
                    "groups": values[method].groups,
                    "left_out": values[method].left_out,
                    "undefined": n - around.count,
                }
            )
    return pd.DataFrame(rows, columns=_STATISTICS)


def evaluate_all(grids: Iterable[Grid], **options: Any) -> pd.DataFrame:
    """`bootstrap` of every grid in one table: ``measure`` and ``judgement``, which grids have, then
    its columns. The options are those of `bootstrap`.
    """
    parts = [
        bootstrap(grid, **options).assign(measure=grid.measure, judgement=grid.judgement)
        for grid in grids
    ]
    return (
        pd.concat(parts, ignore_index=True)[_AGREEMENT]
        if parts
        else pd.DataFrame(columns=_AGREEMENT)
    )
