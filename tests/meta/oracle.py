"""The statistics of the meta-evaluation the long way: rows copied, scipy for each group, loops over pairs."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

LEVELS = ("summary", "system", "pairwise", "intra_system")
METHODS = ("spearman", "pearson", "kendall_a", "kendall_b", "kendall_c", "accuracy")


def groups(scores: Array, judgements: Array, level: str, method: str) -> list[tuple[Array, Array]]:
    if level == "summary":
        return [(scores.ravel(), judgements.ravel())]
    if level == "system":
        exact = [side.mean(axis=0) for side in (scores, judgements)]
        rounded = [np.round(means, 9) for means in exact]
        varied = all(len(set(means)) > 1 for means in rounded)
        return [tuple(exact if method == "pearson" and varied else rounded)]
    if level == "pairwise":
        return list(zip(scores, judgements, strict=True))
    return list(zip(scores.T, judgements.T, strict=True))


def ordered_pairs(x: Array, y: Array) -> tuple[int, int, int]:
    """Pairs ordered alike, pairs ordered differently, pairs that the judgements order."""
    alike = different = judged = 0
    for (a, b), (c, d) in itertools.combinations(zip(x.tolist(), y.tolist(), strict=True), 2):
        alike += (a > c and b > d) or (a < c and b < d)
        different += (a > c and b < d) or (a < c and b > d)
        judged += b != d
    return alike, different, judged


def of_group(x: Array, y: Array, method: str) -> float:
    if len(set(y)) < 2:
        return np.nan
    if method == "kendall_a":
        alike, different, _ = ordered_pairs(x, y)
        return (alike - different) / (len(x) * (len(x) - 1) / 2)
    if method == "accuracy":
        alike, _, judged = ordered_pairs(x, y)
        return alike / judged
    if len(set(x)) < 2:
        return np.nan
    if method == "spearman":
        return float(stats.spearmanr(x, y).statistic)
    if method == "pearson":
        return float(stats.pearsonr(x, y).statistic)
    return float(stats.kendalltau(x, y, variant=method[-1]).statistic)


def value(scores: Array, judgements: Array, level: str, method: str) -> float:
    parts = groups(scores, judgements, level, method)
    if method == "accuracy":
        counts = [ordered_pairs(x, y) for x, y in parts]
        judged = sum(count[2] for count in counts)
        return sum(count[0] for count in counts) / judged if judged else np.nan
    values = [of_group(x, y, method) for x, y in parts]
    known = [each for each in values if not np.isnan(each)]
    return sum(known) / len(known) if known else np.nan


def resample(scores: Array, judgements: Array, kind: str, n: int, seed: int) -> list[tuple[Array, Array]]:
    """n resamples with their rows and columns copied, drawn as the documentation of `draw` says."""
    rng = np.random.default_rng(seed)
    documents, systems = scores.shape
    rows = rng.integers(documents, size=(n, documents)) if kind != "systems" else [range(documents)] * n
    columns = rng.integers(systems, size=(n, systems)) if kind != "documents" else [range(systems)] * n
    cells = [np.ix_(row, column) for row, column in zip(rows, columns, strict=True)]
    return [(scores[cell], judgements[cell]) for cell in cells]
