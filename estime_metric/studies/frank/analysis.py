"""Scores -> correlations with factuality, their intervals and differences, and the ablation by type of error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.meta.checks import Floats
from estime_metric.meta.resampling import draw, interval
from estime_metric.meta.significance import williams
from estime_metric.studies.frank.data import DATASETS, Frank
from estime_metric.studies.frank.partial import METHODS, codes_of, weighted_partial
from estime_metric.studies.shared.scoring import Measure, Scores

#: All summaries, or those of one data set.
PARTS = ("all", *DATASETS)

#: The system held constant, or not.
KINDS = ("partial", "plain")

#: Share of the resamples within an interval.
CONFIDENCE = 0.95

#: Weights of the resamples that are computed together: 8 MB of float64.
_TOGETHER = 1_000_000

FrankScores = Scores[Frank]


def correlations(
    scores: FrankScores, *, resamples: int = 1000, seed: int = 0, advance: Callable[[], object] | None = None
) -> pd.DataFrame:
    """How well each measure agrees with factuality, with 95% intervals of a bootstrap over documents.

    Args:
        scores: what was measured; a summary without a score is left out of that measure.
        resamples: how many; the same documents are drawn for every measure.
        seed: of the random numbers.
        advance: called after each measure.

    Returns:
        tidy: ``column``, ``measure`` (its label), ``section``, ``part`` (one of `PARTS`), ``kind`` (one of `KINDS`),
        ``method``, ``value``, ``low``, ``high``, ``summaries`` (with a score) and ``undefined``, the resamples without
        a value. A value is NaN where scores or judgements are constant.
    """
    samples = _Samples(scores.data, resamples, seed)
    rows = []
    for head, values, chosen in _parts(scores, advance):
        for kind in KINDS:
            for method in METHODS:
                value, drawn = samples.correlate(values, scores.data.factuality, chosen, kind, method)
                low, high, undefined = interval(drawn, CONFIDENCE)
                rows.append((*head, kind, method, value, low, high, len(chosen), undefined))
    names = ["column", "measure", "section", "part", "kind", "method", "value", "low", "high", "summaries", "undefined"]
    return pd.DataFrame(rows, columns=names)


def differences(scores: FrankScores, found: pd.DataFrame) -> pd.DataFrame:
    """Each measure against the one with the highest partial correlation, by Williams' test.

    The test takes summaries as independent draws, which those of one document are not; systems that are held constant
    are taken off its degrees of freedom.

    Args:
        scores: what was measured.
        found: their `correlations`.

    Returns:
        tidy: ``column``, ``part``, ``method``, ``best`` (the column of the best), ``difference`` (its correlation less
        this one's, over the summaries that both score) and the two-sided ``p_value``; NaN where there is none.
    """
    rows = []
    partial = found[found["kind"] == "partial"].dropna(subset="value")
    by_column = {measure.column: measure for measure in _known(scores)}
    for (part, method), group in partial.groupby(["part", "method"], sort=False):
        best = by_column[group.loc[group["value"].idxmax(), "column"]]
        first = scores.oriented(best)
        for column in group["column"]:
            second = scores.oriented(by_column[column])
            rows.append(
                (column, part, method, best.column, *_williams(scores.data, first, second, str(part), str(method)))
            )
    return pd.DataFrame(rows, columns=["column", "part", "method", "best", "difference", "p_value"])


def ablation(
    scores: FrankScores, *, resamples: int = 1000, seed: int = 0, advance: Callable[[], object] | None = None
) -> pd.DataFrame:
    """What each type of error contributes: partial Pearson correlation less the one with that type's labels flipped.

    The higher, the more of the agreement rests on errors of the type (Pagnoni et al. 2021, section 5.3).

    Args:
        scores, resamples, seed, advance: as in `correlations`.

    Returns:
        tidy: ``column``, ``measure``, ``section``, ``part``, ``error``, ``value``, ``low``, ``high``.
    """
    samples = _Samples(scores.data, resamples, seed)
    rows = []
    for head, values, chosen in _parts(scores, advance):
        value, drawn = samples.correlate(values, scores.data.factuality, chosen, "partial", "pearson")
        for error, flipped in scores.data.flipped.items():
            changed, drawn_changed = samples.correlate(values, flipped, chosen, "partial", "pearson")
            low, high, _ = interval(drawn - drawn_changed, CONFIDENCE)
            rows.append((*head, error, value - changed, low, high))
    return pd.DataFrame(rows, columns=["column", "measure", "section", "part", "error", "value", "low", "high"])


class _Samples:
    """Resamples of the documents, the same for everything that is computed with them."""

    def __init__(self, data: Frank, resamples: int, seed: int) -> None:
        documents = [document for document, _ in data.keys]
        drawn = draw((len(data.documents), 1), "documents", resamples, seed)[0]
        assert drawn is not None
        self._documents: Floats = np.concatenate([np.ones((1, drawn.shape[1])), drawn])  # the sample itself first
        self._document_of_each = codes_of(documents)
        self._system_of_each = codes_of([system for _, system in data.keys])

    def correlate(
        self, scores: Floats, judgements: Floats, chosen: npt.NDArray[np.int64], kind: str, method: str
    ) -> tuple[float, Floats]:
        """The correlation over some summaries, and that of every resample."""
        systems = self._system_of_each[chosen] if kind == "partial" else np.zeros(len(chosen), dtype=np.int64)
        if not len(chosen):
            return float("nan"), np.full(len(self._documents) - 1, np.nan)
        values = np.concatenate(
            [
                weighted_partial(weights, scores[chosen], judgements[chosen], systems, method)
                for weights in self._weights(chosen)
            ]
        )
        return float(values[0]), values[1:]

    def _weights(self, chosen: npt.NDArray[np.int64]) -> Iterator[Floats]:
        """How often the resamples take the chosen summaries, some resamples at a time."""
        step = max(1, _TOGETHER // len(chosen))
        for first in range(0, len(self._documents), step):
            yield self._documents[first : first + step, self._document_of_each[chosen]]


def _known(scores: FrankScores) -> list[Measure]:
    return [measure for measure in scores.measures if measure.column in scores.values]


def _parts(
    scores: FrankScores, advance: Callable[[], object] | None
) -> Iterator[tuple[tuple[str, str, str, str], Floats, npt.NDArray[np.int64]]]:
    """Every measure in every part: the first columns of its rows, its scores, and which summaries have one."""
    for measure in _known(scores):
        values = scores.oriented(measure)
        for part in PARTS:
            yield (measure.column, measure.label, measure.section, part), values, _chosen(scores.data, part, values)
        if advance is not None:
            advance()


def _chosen(data: Frank, part: str, *columns: Floats) -> npt.NDArray[np.int64]:
    """Indices of a part's summaries that every column scores."""
    inside = np.ones(len(data), dtype=bool) if part == "all" else np.array(data.datasets) == part
    for values in columns:
        inside &= np.isfinite(values)
    return np.flatnonzero(inside)


def _williams(data: Frank, first: Floats, second: Floats, part: str, method: str) -> tuple[float, float]:
    """The difference of two measures' partial correlations and its p-value."""
    chosen = _chosen(data, part, first, second)
    systems = codes_of([data.keys[index][1] for index in chosen])
    columns = {"first": first[chosen], "second": second[chosen], "judged": data.factuality[chosen]}

    def correlate(one: str, other: str) -> float:
        return float(weighted_partial(np.ones((1, len(chosen))), columns[one], columns[other], systems, method)[0])

    three = correlate("first", "judged"), correlate("second", "judged"), correlate("first", "second")
    count = len(chosen) - max(systems, default=0)
    if np.isnan(three).any() or count < 4:
        return float("nan"), float("nan")
    return three[0] - three[1], williams(*three, count)[1]


def best_of(found: pd.DataFrame, sections: Sequence[str], count: int, part: str = "all") -> list[str]:
    """Columns with the highest partial Pearson correlation among some sections, the highest first."""
    rows = found[(found["kind"] == "partial") & (found["method"] == "pearson") & (found["part"] == part)]
    rows = rows[rows["section"].isin(sections)].dropna(subset="value")
    return list(rows.sort_values("value", ascending=False, kind="stable")["column"][:count])


@dataclass(frozen=True, eq=False)
class Analysis:
    """What was found: see `correlations`, `differences` and `ablation`."""

    correlations: pd.DataFrame
    differences: pd.DataFrame
    ablation: pd.DataFrame
