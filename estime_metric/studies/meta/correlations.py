"""How well scores agree with judgements: six statistics on four levels (Steen & Markert 2022,
section 4).

``spearman`` (of mid-ranks), ``pearson``, ``kendall_a`` (ties count neither way), ``kendall_b``
(corrected for ties; Steen & Markert) and ``kendall_c`` (Stuart's; Vasilyev & Bohannon 2021) are
within -1..1. ``accuracy``, within 0..1, is the share of the pairs of all groups that the judgements
order which the scores order alike, and not a mean of the groups' shares; a tie of the scores is wrong.

A group with equal judgements is excluded from the mean; so is a group with equal scores, except for
``kendall_a`` and ``accuracy``, which are then 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from estime_metric.checks import check_choice
from estime_metric.studies.meta.concordance import METHODS, Tally, mean_over_groups, tally
from estime_metric.studies.meta.ranks import dense
from estime_metric.table.arrays import Floats, alike

#: level -> what it is.
LEVELS = {
    "summary": "all summaries together",
    "system": "means of the systems",
    "pairwise": "summaries of one document, mean over documents (accuracy: over all their pairs)",
    "intra_system": "summaries of one system, mean over systems (accuracy: over all their pairs)",
}

TIED = 1e-9  # system means that differ by less than this share of the range of all values are tied: they come from sums


class UndefinedCorrelationError(ValueError):
    """Scores or judgements order no pair: the correlation has no value."""


@dataclass(frozen=True)
class Correlation:
    """A ``value``, higher is better, of a number of ``groups``: documents (``pairwise``), systems
    (``intra_system``) or 1; ``left_out`` of them are undefined."""

    value: float
    groups: int
    left_out: int


def correlate(
    scores: npt.ArrayLike, judgements: npt.ArrayLike, *, level: str, method: str
) -> float:
    """Agreement of scores with judgements, higher is better: one of `METHODS` on one of `LEVELS`.

    Both are of shape (documents, systems), higher is better.

    Raises:
        UndefinedCorrelationError: there is nothing to compare: no document, one system, or constant
            values.

    Example:
        >>> scores = [[1, 2, 4], [3, 5, 6]]
        >>> judgements = [[1, 2, 4], [8, 3, 3]]
        >>> correlate(scores, judgements, level="pairwise", method="kendall_a")  # mean of 1 and -2/3
        0.16666666666666669
        >>> correlate(scores, judgements, level="pairwise", method="accuracy")  # 3 of 3 + 2 pairs
        0.6
    """
    check_choice("level", level, LEVELS)
    check_choice("method", method, METHODS)
    x, y = alike(2, scores=scores, judgements=judgements)
    return defined(x, y, level, method)


def defined(scores: Floats, judgements: Floats, level: str, method: str) -> float:
    """As `correlate`, of checked arrays, which are NaN where a summary is unknown."""
    result = observed(scores, judgements, level, [method])[method]
    if np.isnan(result.value):
        documents, systems = scores.shape
        raise UndefinedCorrelationError(
            f"Expected scores and judgements that vary on level {level!r}, but {method} is undefined: "
            f"{documents} documents, {systems} systems, {result.left_out} of {result.groups} groups are constant."
        )
    return result.value


def observed(
    scores: Floats, judgements: Floats, level: str, methods: Iterable[str]
) -> dict[str, Correlation]:
    """Each method's `Correlation`, whose value is NaN if it is undefined."""
    counts = list(tallies(scores, judgements, level))
    by_method = {}
    for method in methods:
        value = mean_over_groups(counts, np.ones((1, len(counts))), method)[0]
        left_out = sum(bool(np.isnan(METHODS[method](group)[0])) for group in counts)
        by_method[method] = Correlation(float(value), len(counts), left_out)
    return by_method


def p_value(scores: Floats, judgements: Floats, level: str, method: str) -> float:
    """The two-sided p-value of a correlation, the hypothesis being that there is none, by scipy's test
    of the method (Student's t, and for all of Kendall's the normal approximation or, of few items
    without ties, the exact distribution).

    The test treats summaries as independent, although several have the same source. NaN on levels
    that average over groups, for ``accuracy``, and for constant values.
    """
    if level not in ("summary", "system") or method == "accuracy":
        return float("nan")
    x, y = (_items(values, level, ranked=method != "pearson") for values in (scores, judgements))
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    test = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}.get(method, stats.kendalltau)
    return float(test(x, y).pvalue)


def _items(values: Floats, level: str, *, ranked: bool) -> Floats:
    """The values that are correlated on a level of one group, or their ranks, tied as in `tallies`."""
    if level == "summary":
        known = values[~np.isnan(values)]
        return dense(known).astype(np.float64) if ranked else known
    means: Floats = np.nanmean(values, axis=0)
    return dense(means, tolerance(values)).astype(np.float64) if ranked else means


def weighted(
    scores: Floats,
    judgements: Floats,
    level: str,
    methods: Iterable[str],
    documents: Floats | None = None,
    systems: Floats | None = None,
) -> dict[str, Floats]:
    """method -> its values in n samples, float64 of shape (n,), NaN if it is undefined. Scores and
    judgements are of shape (D, S), NaN for an unknown summary; ``documents`` and ``systems``, whole
    numbers of shape (n, D) and (n, S), say how often each sample contains each of them (once if
    omitted)."""
    counts = list(tallies(scores, judgements, level, documents, systems))
    groups = {"pairwise": documents, "intra_system": systems}.get(level)
    if groups is None:
        groups = np.ones((sample_count(documents, systems), len(counts)))
    return {method: mean_over_groups(counts, groups, method) for method in methods}


def sample_count(documents: Floats | None, systems: Floats | None) -> int:
    """Number of samples of documents, systems or both."""
    return max((len(sample) for sample in (documents, systems) if sample is not None), default=1)


def tallies(
    scores: Floats,
    judgements: Floats,
    level: str,
    documents: Floats | None = None,
    systems: Floats | None = None,
) -> Iterator[Tally]:
    """The counts of each group of a level, under the samples of `weighted`. An unknown summary occurs in
    no sample; the mean of a system is over its known summaries.
    """
    known = ~np.isnan(scores + judgements)
    x, y = (np.where(known, values, 0.0) for values in (scores, judgements))
    document_counts = np.ones((1, scores.shape[0])) if documents is None else documents
    system_counts = np.ones((1, scores.shape[1])) if systems is None else systems
    if level == "summary":
        items = document_counts[:, :, None] * system_counts[:, None, :] * known  # (n, D, S)
        yield tally(items.reshape(len(items), scores.size), x.ravel(), y.ravel())
    elif level == "system":
        counts = document_counts @ known.astype(np.float64)  # (n, S), of known summaries
        yield tally(
            system_counts * (counts > 0),
            _means(x, document_counts, counts),
            _means(y, document_counts, counts),
            score_tolerance=tolerance(scores),
            judgement_tolerance=tolerance(judgements),
        )
    elif level == "pairwise":
        for in_row, row, judged in zip(known, x, y, strict=True):
            yield tally(system_counts * in_row, row, judged)
    else:
        for in_column, column, judged in zip(known.T, x.T, y.T, strict=True):
            yield tally(document_counts * in_column, column, judged)


def tolerance(values: Floats) -> float:
    """System means that differ by no more are tied, see `TIED`."""
    known = values[~np.isnan(values)]
    return TIED * float(np.ptp(known)) if known.size else 0.0


def _means(values: Floats, documents: Floats, counts: Floats) -> Floats:
    """Means of the systems, (S,) of one sample of documents and (n, S) of more; 0 for a system without
    a summary. ``counts``: the summaries of each system in each sample.
    """
    means: Floats = documents @ values / np.where(counts > 0, counts, 1)
    return means[0] if len(means) == 1 else means
