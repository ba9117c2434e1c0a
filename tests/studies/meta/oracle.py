"""The statistics of the meta-evaluation the long way: rows copied, group by group, all pairs of a
group; an unknown summary is NaN in scores and judgements, and is not there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

LEVELS = ("summary", "system", "pairwise", "intra_system")
METHODS = ("spearman", "pearson", "kendall_a", "kendall_b", "kendall_c", "accuracy")


def groups(scores: Array, judgements: Array, level: str, method: str) -> list[tuple[Array, Array]]:
    if level == "summary":
        return [known(scores.ravel(), judgements.ravel())]
    if level == "system":
        columns = [known(*pair) for pair in zip(scores.T, judgements.T, strict=True)]
        means = [[side.mean() for side in pair] for pair in columns if len(pair[0])]
        exact = list(np.array(means).reshape(-1, 2).T)
        rounded = [np.round(means, 9) for means in exact]
        varied = all(len(set(means)) > 1 for means in rounded)
        return [tuple(exact if method == "pearson" and varied else rounded)]
    rows = (scores, judgements) if level == "pairwise" else (scores.T, judgements.T)
    return [known(*pair) for pair in zip(*rows, strict=True)]


def known(x: Array, y: Array) -> tuple[Array, Array]:
    return x[~np.isnan(x)], y[~np.isnan(y)]


def ordered_pairs(x: Array, y: Array) -> tuple[int, int, int]:
    """Pairs ordered alike, pairs ordered differently, pairs that the judgements order."""
    first, second = (np.sign(np.subtract.outer(side, side)) for side in (x, y))
    counts = (first * second > 0, first * second < 0, second != 0)
    return tuple(int(np.sum(each)) // 2 for each in counts)


def correlation(x: Array, y: Array, method: str) -> float:
    """That of scipy, and pair by pair those that it lacks; NaN if it is undefined."""
    classes = [len(set(side.tolist())) for side in (x, y)]
    if classes[1] < 2 or (classes[0] < 2 and method not in ("accuracy", "kendall_a")):
        return np.nan
    if method in ("accuracy", "kendall_a"):
        alike, different, judged = ordered_pairs(x, y)
        if method == "accuracy":
            return alike / judged
        return (alike - different) / (len(x) * (len(x) - 1) / 2)
    if method == "spearman":
        return float(stats.spearmanr(x, y).statistic)
    if method == "pearson":
        return float(stats.pearsonr(x, y).statistic)
    return float(stats.kendalltau(x, y, variant=method[-1]).statistic)


def value(scores: Array, judgements: Array, level: str, method: str) -> float:
    parts = groups(scores, judgements, level, method)
    if method == "accuracy":
        alike, _, judged = np.sum([ordered_pairs(x, y) for x, y in parts], axis=0)
        return alike / judged if judged else np.nan
    values = [correlation(x, y, method) for x, y in parts]
    known = [each for each in values if not np.isnan(each)]
    return sum(known) / len(known) if known else np.nan


def resample(
    scores: Array, judgements: Array, kind: str, n: int, seed: int
) -> list[tuple[Array, Array]]:
    """n resamples with their rows and columns copied, drawn as the documentation of `draw` says."""
    rng = np.random.default_rng(seed)
    documents, systems = scores.shape
    rows = (
        rng.integers(documents, size=(n, documents))
        if kind != "systems"
        else [range(documents)] * n
    )
    columns = (
        rng.integers(systems, size=(n, systems)) if kind != "documents" else [range(systems)] * n
    )
    cells = [np.ix_(row, column) for row, column in zip(rows, columns, strict=True)]
    return [(scores[cell], judgements[cell]) for cell in cells]
