"""FRANK: which measures it compares, what it computes of their scores, and the tables of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.meta.checks import Floats
from estime_metric.meta.resampling import interval as percentiles
from estime_metric.meta.significance import williams
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.frank.data import DATASETS, Frank
from estime_metric.studies.frank.partial import codes_of, weighted_partial
from estime_metric.studies.frank.plots import ERROR_NAMES, PUBLISHED, SECTIONS, draw, part_name
from estime_metric.studies.shared.baselines import trivial_block
from estime_metric.studies.shared.estime_block import estime_block
from estime_metric.studies.shared.scoring import Block, Measure, Scores, published_block
from estime_metric.studies.shared.study import IDS, Frames, document_weights, each, lookup, sections
from estime_metric.tables import Cell, Column, Section, Table, interval

__all__ = ["analyze", "blocks", "draw", "tables"]

#: All summaries, or those of one data set.
PARTS = ("all", *DATASETS)
#: The system held constant, or not.
KINDS = ("partial", "plain")
#: Share of the resamples within an interval.
CONFIDENCE = 0.95
#: Weights of the resamples that are computed together: 8 MB of float64.
_TOGETHER = 1_000_000
#: Tidy tables among the files.
CORRELATIONS, DIFFERENCES, ABLATION = "correlations.csv", "differences.csv", "ablation.csv"

SYMBOLS = {"pearson": "r", "spearman": "ρ"}

Indices = npt.NDArray[np.int64]
#: What has columns of its own in the tables.
_SHOWN = list(product(PARTS, SYMBOLS))


def blocks(scorer: EstimeScorer, data: Frank, *, progress: bool = False) -> list[Block]:
    """ESTIME with every measure that the scorer computes, words and lengths, and the published metrics of the data.

    The scorer's ``measures`` have to be all of `FURTHER_MEASURES`; ``progress`` is its own bar.
    """
    published = {f"published:{name}": (name, values) for name, values in data.metrics.items()}
    return [
        estime_block(scorer, every_measure=True, progress=progress),
        trivial_block(),
        published_block("Published metrics", PUBLISHED, f"FRANK|{data.origin}|{data.digest}", published),
    ]


def analyze(
    scores: Scores[Frank], *, resamples: int = 1000, seed: int = 0, advance: Callable[[], object] = lambda: None
) -> Frames:
    """Correlations with factuality, differences to the best, and the ablation by type of error.

    Intervals are those of a bootstrap over documents, the same ones for every measure. A summary without a score is
    left out of that measure.

    Returns:
        ``correlations.csv``: ``column``, ``measure`` (its label), ``section``, ``part`` (one of `PARTS`), ``kind`` (one
        of `KINDS`), ``method``, ``value``, ``low``, ``high``, ``summaries`` (with a score) and ``undefined``, the
        resamples without a value. A value is NaN where scores or judgements are constant.

        ``ablation.csv``: ``column``, ``measure``, ``section``, ``part``, ``error``, ``value``, ``low``, ``high``: the
        partial Pearson correlation less the one with the labels of a type of error flipped. The higher, the more of the
        agreement rests on errors of the type (Pagnoni et al. 2021, section 5.3).

        ``differences.csv``, see `differences`.
    """
    data, ablated = scores.data, []
    weights_of, systems = document_weights(data, resamples, seed), codes_of([system for _, system in data.keys])
    held = {"partial": systems, "plain": np.zeros_like(systems)}

    def correlate(scored: Floats, judgements: Floats, chosen: Indices, kind: str, method: str) -> Floats:
        return _correlate(weights_of(chosen), scored[chosen], judgements[chosen], held[kind][chosen], method)

    def correlations(one: Measure) -> pd.DataFrame:
        rows, values = [], scores.oriented(one)
        for part in PARTS:
            chosen = _chosen(data, part, values)
            drawn = {key: correlate(values, data.factuality, chosen, *key) for key in product(KINDS, SYMBOLS)}
            for key, found in drawn.items():
                low, high, undefined = percentiles(found[1:], CONFIDENCE)
                rows.append((part, *key, found[0], low, high, len(chosen), undefined))
            for error, flipped in data.flipped.items():
                less = drawn["partial", "pearson"] - correlate(values, flipped, chosen, "partial", "pearson")
                ends = percentiles(less[1:], CONFIDENCE)[:2]
                ablated.append((one.column, one.label, one.section, part, error, less[0], *ends))
        return pd.DataFrame(rows, columns=names)

    names = ["part", "kind", "method", "value", "low", "high", "summaries", "undefined"]
    found = each(scores, correlations, names, advance)
    ablation = pd.DataFrame(ablated, columns=[*IDS, "part", "error", "value", "low", "high"])
    return {CORRELATIONS: found, DIFFERENCES: differences(scores, found), ABLATION: ablation}


def differences(scores: Scores[Frank], found: pd.DataFrame) -> pd.DataFrame:
    """Each measure against the one with the highest partial correlation, by Williams' test.

    The test takes summaries as independent draws, which those of one document are not; systems that are held constant
    are taken off its degrees of freedom.

    Returns:
        tidy: ``column``, ``part``, ``method``, ``best`` (the column of the best), ``difference`` (its correlation less
        this one's, over the summaries that both score) and the two-sided ``p_value``; NaN where there is none.
    """
    rows: list[tuple[Any, ...]] = []
    known = {one.column: scores.oriented(one) for one in scores.known}
    partial = found[found["kind"] == "partial"].dropna(subset="value") if known else found
    for (part, method), group in partial.groupby(["part", "method"], sort=False) if known else ():
        best = group.loc[group["value"].idxmax(), "column"]
        for column in group["column"]:
            rows.append((column, part, method, best, *_williams(scores.data, known[best], known[column], part, method)))
    return pd.DataFrame(rows, columns=["column", "part", "method", "best", "difference", "p_value"])


def _correlate(weights: Floats, scores: Floats, judgements: Floats, categories: Indices, method: str) -> Floats:
    """The correlation for each row of weights, some rows at a time."""
    if not len(scores):
        return np.full(len(weights), np.nan)
    step = max(1, _TOGETHER // len(scores))
    parts = (weights[first : first + step] for first in range(0, len(weights), step))
    return np.concatenate([weighted_partial(part, scores, judgements, categories, method) for part in parts])


def _chosen(data: Frank, part: str, *columns: Floats) -> Indices:
    """Indices of a part's summaries that every column scores."""
    inside = np.ones(len(data), dtype=bool) if part == "all" else np.array(data.datasets) == part
    return np.flatnonzero(inside & np.isfinite(columns).all(axis=0))


def _williams(data: Frank, first: Floats, second: Floats, part: str, method: str) -> tuple[float, float]:
    """The difference of two measures' partial correlations and its p-value."""
    chosen = _chosen(data, part, first, second)
    systems, weights = codes_of([data.keys[index][1] for index in chosen]), np.ones((1, len(chosen)))

    def correlate(one: Floats, other: Floats) -> float:
        return float(_correlate(weights, one[chosen], other[chosen], systems, method)[0])

    three = correlate(first, data.factuality), correlate(second, data.factuality), correlate(first, second)
    count = len(chosen) - max(systems, default=0)
    if np.isnan(three).any() or count < 4 or three[2] <= -1 + 1e-12:  # each other's opposite: no value
        return float("nan"), float("nan")
    return three[0] - three[1], williams(*three, count)[1]


def tables(scores: Scores[Frank], frames: Frames) -> list[Table]:
    """``frank``, ``frank-plain``, ``frank-intervals``, ``frank-differences`` and ``frank-ablation``."""
    of_kind = {kind: lookup(found, "column", "part", "method") for kind, found in frames[CORRELATIONS].groupby("kind")}
    partial, plain = of_kind.get("partial", {}), of_kind.get("plain", {})
    return [
        _correlations(scores, partial, "frank", ", the system held constant (partial correlation)"),
        _correlations(scores, plain, "frank-plain", ", nothing held constant"),
        _intervals(scores, partial),
        _differences(scores, frames[DIFFERENCES]),
        _ablation(scores, frames[ABLATION]),
    ]


def _table(
    scores: Scores[Frank],
    name: str,
    title: str,
    columns: list[Column],
    cells: Callable[[Measure], Iterator[Cell]],
    notes: tuple[str, ...] = (),
) -> Table:
    found = sections(scores, SECTIONS, cells, len(columns))
    return Table(name, title, (Column("measure", text=True), *columns), found, (*notes, *_notes(scores)))


def _correlations(scores: Scores[Frank], found: dict[Any, Any], name: str, held: str) -> Table:
    columns = [Column(SYMBOLS[method], group=part_name(part)) for part, method in _SHOWN]
    columns.append(Column("95% interval", group="r, all", text=True))

    def cells(one: Measure) -> Iterator[Cell]:
        yield from (found[one.column, part, method].value for part, method in _SHOWN)
        yield interval(found[one.column, "all", "pearson"].low, found[one.column, "all", "pearson"].high)

    title = (
        f"FRANK: correlation with judged factuality{held}; Pearson's r, Spearman's ρ; {scores.data.origin}, "
        f"{len(scores.data)} summaries."
    )
    return _table(scores, name, title, columns, cells)


def _intervals(scores: Scores[Frank], found: dict[Any, Any]) -> Table:
    columns = []
    for part, method in _SHOWN:
        group = f"{part_name(part)} {SYMBOLS[method]}"
        columns += [Column("value", group), Column("95% interval", group, text=True)]

    def cells(one: Measure) -> Iterator[Cell]:
        for row in (found[one.column, part, method] for part, method in _SHOWN):
            yield from (row.value, interval(row.low, row.high))

    title = "FRANK: partial correlations with factuality and their 95% intervals, bootstrap over documents."
    return _table(scores, "frank-intervals", title, columns, cells)


def _differences(scores: Scores[Frank], found: pd.DataFrame) -> Table:
    columns = []
    for part in PARTS:
        columns += [Column(f"{symbol} less", group=part_name(part)) for symbol in SYMBOLS.values()]
        columns += [Column(f"p of {symbol}", group=part_name(part), decimals=4) for symbol in SYMBOLS.values()]
    rows = lookup(found, "column", "part", "method")
    labels = {one.column: one.label for one in scores.measures}
    best = {
        f"{part_name(part)}, {SYMBOLS[method]}: {labels[group.iloc[0]]}"
        for (part, method), group in found.groupby(["part", "method"])["best"]
    }

    def cells(one: Measure) -> Iterator[Cell]:
        for part, name, method in product(PARTS, ("difference", "p_value"), SYMBOLS):
            yield getattr(rows.get((one.column, part, method)), name, None)

    notes = (
        f"The best: {'; '.join(sorted(best))}.",
        "p: Williams' test, two-sided, over the summaries that both score. It takes summaries as independent, which "
        "those of one document are not, and is approximate for ρ.",
    )
    title = "FRANK: how far each measure's partial correlation is behind the best one's, and Williams' test."
    return _table(scores, "frank-differences", title, columns, cells, notes)


def _ablation(scores: Scores[Frank], found: pd.DataFrame) -> Table:
    errors = list(scores.data.flipped)
    columns = (Column("measure", text=True), *(Column(ERROR_NAMES.get(error, error)) for error in errors))
    rows = lookup(found, "column", "part", "error")
    ordered = [one for section in SECTIONS for one in scores.known if one.section == section]
    parts = tuple(
        Section(
            part_name(part),
            tuple((one.label, *(rows[one.column, part, error].value for error in errors)) for one in ordered),
        )
        for part in PARTS
    )
    notes = (
        "Partial Pearson correlation with factuality less that with the labels of one type of error flipped: the "
        "higher, the more of the agreement rests on errors of this type. The first three are groups of the next seven.",
        *_notes(scores),
    )
    return Table("frank-ablation", "FRANK: ablation by type of error.", columns, parts, notes)


def _notes(scores: Scores[Frank]) -> tuple[str, ...]:
    data = scores.data
    counts = ", ".join(f"{part_name(part)} {data.datasets.count(part)}" for part in DATASETS)
    return (
        f"Data: {data.origin}, {len(data.documents)} documents; summaries: {counts}. (-): the score is negated, so "
        "that higher is better in every row. Intervals: percentiles of a bootstrap over documents.",
        *scores.gaps,
        *scores.remarks,
    )
