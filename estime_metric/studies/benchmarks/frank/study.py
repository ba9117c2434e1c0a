"""FRANK: which measures it compares, what it computes of their scores, and the tables of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from estime_metric.comparison.checks import Floats
from estime_metric.comparison.resampling import interval as percentiles
from estime_metric.comparison.tables import Column, Table
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.frank.data import DATASETS, ERRORS, Frank
from estime_metric.studies.benchmarks.frank.partial import codes_of, weighted_partial
from estime_metric.studies.benchmarks.shared import study as shared
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.scoring import (
    OWN,
    REFERENCE_FREE,
    TRIVIAL,
    Block,
    Measure,
    Scores,
    published_block,
)
from estime_metric.studies.benchmarks.shared.study import Frames
from estime_metric.studies.meta.significance import williams

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Section of the metrics whose scores come with the data.
PUBLISHED = "Published metrics, scores from the data"
SECTIONS = {
    REFERENCE_FREE: "Measured here",
    TRIVIAL: "Trivial, measured here",
    OWN: "From files",
    PUBLISHED: PUBLISHED,
}
#: Measures in the picture of the ablation: so many of ours, and so many published ones.
SHOWN = {(REFERENCE_FREE, OWN): 3, (PUBLISHED,): 3}
PARTS = ("all", *DATASETS)
#: The system held constant, or not.
KINDS = ("partial", "plain")
CONFIDENCE = 0.95
#: Weights of the resamples that are computed together: 8 MB of float64.
_TOGETHER = 1_000_000
CORRELATIONS, DIFFERENCES, ABLATION = "correlations.csv", "differences.csv", "ablation.csv"

SYMBOLS = {"pearson": "r", "spearman": "ρ"}
_SHOWN = list(product(PARTS, SYMBOLS))

Indices = npt.NDArray[np.int64]


def part_name(part: str) -> str:
    """A part as readers know it: ``all``, ``CNN/DailyMail``, ``XSum``."""
    return DATASETS.get(part, part)


def blocks(scorer: EstimeScorer, data: Frank, *, progress: bool = False) -> list[Block]:
    """ESTIME with every measure that the scorer computes, words and lengths, and the published
    metrics of the data.

    The scorer's ``measures`` have to be all of `FURTHER_MEASURES`; ``progress`` is its own bar.
    """
    published = {f"published:{name}": (name, values) for name, values in data.metrics.items()}
    return [
        estime_block(scorer, every_measure=True, progress=progress),
        trivial_block(),
        published_block(
            "Published metrics", PUBLISHED, f"FRANK|{data.origin}|{data.digest}", published
        ),
    ]


def analyze(scores: Scores[Frank], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """Correlations with factuality, differences to the best, and the ablation by type of error.

    Intervals are those of a bootstrap over documents, the same ones for every measure. A summary
    without a score is left out of that measure.

    ``correlations.csv``: ``column``, ``measure`` (its label), ``section``, ``part`` (one of
    `PARTS`), ``kind`` (one of `KINDS`), ``method``, ``value`` (NaN where scores or judgements are
    constant), ``low``, ``high``, ``summaries`` (with a score) and ``undefined``, the resamples
    without a value. ``ablation.csv``: ``error`` in place of kind and method; the partial Pearson
    correlation less the one with the labels of a type of error flipped: the higher, the more of the
    agreement rests on errors of the type (Pagnoni et al. 2021, section 5.3). ``differences.csv``:
    see `differences`.
    """
    data, ablated = scores.data, []
    weights_of, systems = (
        shared.document_weights(data, resamples, seed),
        codes_of([system for _, system in data.keys]),
    )
    held = {"partial": systems, "plain": np.zeros_like(systems)}

    def correlate(
        scored: Floats, judgements: Floats, chosen: Indices, kind: str, method: str
    ) -> Floats:
        return _correlate(
            weights_of(chosen), scored[chosen], judgements[chosen], held[kind][chosen], method
        )

    def correlations(one: Measure) -> pd.DataFrame:
        rows, values = [], scores.oriented(one)
        for part in PARTS:
            chosen = _chosen(data, part, values)
            drawn = {
                key: correlate(values, data.factuality, chosen, *key)
                for key in product(KINDS, SYMBOLS)
            }
            for key, found in drawn.items():
                low, high, undefined = percentiles(found[1:], CONFIDENCE)
                rows.append((part, *key, found[0], low, high, len(chosen), undefined))
            for error, flipped in data.flipped.items():
                less = drawn["partial", "pearson"] - correlate(
                    values, flipped, chosen, "partial", "pearson"
                )
                ends = percentiles(less[1:], CONFIDENCE)[:2]
                ablated.append((one.column, one.label, one.section, part, error, less[0], *ends))
        return pd.DataFrame(rows, columns=names)

    names = ["part", "kind", "method", "value", "low", "high", "summaries", "undefined"]
    found = shared.each(scores, correlations, names)
    ablation = pd.DataFrame(ablated, columns=[*shared.IDS, "part", "error", "value", "low", "high"])
    return {CORRELATIONS: found, DIFFERENCES: differences(scores, found), ABLATION: ablation}


def differences(scores: Scores[Frank], found: pd.DataFrame) -> pd.DataFrame:
    """Each measure against the one with the highest partial correlation, by Williams' test, which
    takes summaries as independent draws; systems that are held constant are taken off its degrees
    of freedom.

    Tidy: ``column``, ``part``, ``method``, ``best`` (the column of the best), ``difference`` (its
    correlation less this one's, over the summaries that both score) and the two-sided ``p_value``;
    NaN where there is none.
    """
    rows: list[tuple[Any, ...]] = []
    known = {one.column: scores.oriented(one) for one in scores.known}
    partial = found[found["kind"] == "partial"].dropna(subset="value")
    for (part, method), group in partial.groupby(["part", "method"], sort=False):
        best = group.loc[group["value"].idxmax(), "column"]
        for column in group["column"]:
            rows.append(
                (
                    column,
                    part,
                    method,
                    best,
                    *_williams(scores.data, known[best], known[column], part, method),
                )
            )
    return pd.DataFrame(rows, columns=["column", "part", "method", "best", "difference", "p_value"])


def _correlate(
    weights: Floats, scores: Floats, judgements: Floats, categories: Indices, method: str
) -> Floats:
    """The correlation for each row of weights, some rows at a time."""
    if not len(scores):
        return np.full(len(weights), np.nan)
    step = max(1, _TOGETHER // len(scores))
    parts = (weights[first : first + step] for first in range(0, len(weights), step))
    return np.concatenate(
        [weighted_partial(part, scores, judgements, categories, method) for part in parts]
    )


def _chosen(data: Frank, part: str, *columns: Floats) -> Indices:
    inside = np.ones(len(data), dtype=bool) if part == "all" else np.array(data.datasets) == part
    return np.flatnonzero(inside & np.isfinite(columns).all(axis=0))


def _williams(
    data: Frank, first: Floats, second: Floats, part: str, method: str
) -> tuple[float, float]:
    chosen = _chosen(data, part, first, second)
    systems, weights = (
        codes_of([data.keys[index][1] for index in chosen]),
        np.ones((1, len(chosen))),
    )

    def correlate(one: Floats, other: Floats) -> float:
        return float(_correlate(weights, one[chosen], other[chosen], systems, method)[0])

    three = (
        correlate(first, data.factuality),
        correlate(second, data.factuality),
        correlate(first, second),
    )
    count = len(chosen) - max(systems, default=0)
    if (
        np.isnan(three).any() or count < 4 or three[2] <= -1 + 1e-12
    ):  # each other's opposite: no value
        return float("nan"), float("nan")
    return three[0] - three[1], williams(*three, count)[1]


def tables(scores: Scores[Frank], frames: Frames) -> list[Table]:
    """``frank``, ``frank-plain``, ``frank-intervals``, ``frank-differences`` and
    ``frank-ablation``.
    """
    notes, about = (
        _notes(scores),
        f"; Pearson's r, Spearman's ρ; {scores.data.origin}, {len(scores.data)} summaries.",
    )
    kinds = frames[CORRELATIONS].groupby("kind")
    of_kind = {kind: shared.lookup(found, "column", "part", "method") for kind, found in kinds}
    partial, plain = (
        list(shared.by_section(scores, SECTIONS, of_kind.get(kind, {}))) for kind in KINDS
    )
    values = [
        shared.Shown(Column(SYMBOLS[method], part_name(part)), (part, method))
        for part, method in _SHOWN
    ]
    values.append(
        shared.Shown(Column("95% interval", "r, all", text=True), ("all", "pearson"), "interval")
    )
    held = f"FRANK: correlation with judged factuality, the system held constant (partial correlation){about}"
    free = f"FRANK: correlation with judged factuality, nothing held constant{about}"
    pairs = [
        shared.with_interval("value", f"{part_name(part)} {SYMBOLS[method]}", part, method)
        for part, method in _SHOWN
    ]
    title = "FRANK: partial correlations with factuality and their 95% intervals, bootstrap over documents."
    return [
        shared.measure_table("frank", held, values, partial, notes),
        shared.measure_table("frank-plain", free, values, plain, notes),
        shared.measure_table("frank-intervals", title, list(chain(*pairs)), partial, notes),
        _differences(scores, frames[DIFFERENCES], notes),
        _ablation(scores, frames[ABLATION], notes),
    ]


def _differences(scores: Scores[Frank], found: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    shown = [
        shared.Shown(Column(name.format(symbol), part_name(part), decimals), (part, method), value)
        for part in PARTS
        for name, value, decimals in (("{} less", "difference", 3), ("p of {}", "p_value", 4))
        for method, symbol in SYMBOLS.items()
    ]
    labels = {one.column: one.label for one in scores.measures}
    best = sorted(
        f"{part_name(part)}, {SYMBOLS[method]}: {labels[group.iloc[0]]}"
        for (part, method), group in found.groupby(["part", "method"])["best"]
    )
    about = (
        f"The best: {'; '.join(best)}.",
        "p: Williams' test, two-sided, over the summaries that both score. It takes summaries as independent, which "
        "those of one document are not, and is approximate for ρ.",
    )
    title = "FRANK: how far each measure's partial correlation is behind the best one's, and Williams' test."
    parts = shared.by_section(scores, SECTIONS, shared.lookup(found, "column", "part", "method"))
    return shared.measure_table("frank-differences", title, shown, parts, about + notes)


def _ablation(scores: Scores[Frank], found: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    shown = [
        shared.Shown(Column(ERRORS.get(error, error)), (error,)) for error in scores.data.flipped
    ]
    ordered = [
        (one.column, one.label)
        for section in SECTIONS
        for one in scores.known
        if one.section == section
    ]
    parts = [
        (part_name(part), shared.lookup(rows, "column", "error"), ordered)
        for part, rows in found.groupby("part", sort=False)
    ]
    about = (
        "Partial Pearson correlation with factuality less that with the labels of one type of error flipped: the "
        "higher, the more of the agreement rests on errors of this type. The first three are groups of the next seven."
    )
    return shared.measure_table(
        "frank-ablation", "FRANK: ablation by type of error.", shown, parts, (about, *notes)
    )


def _notes(scores: Scores[Frank]) -> tuple[str, ...]:
    data = scores.data
    counts = ", ".join(f"{part_name(part)} {data.datasets.count(part)}" for part in DATASETS)
    return (
        f"Data: {data.origin}, {len(data.documents)} documents; summaries: {counts}. (-): the score is negated, so "
        "that higher is better in every row. Intervals: percentiles of a bootstrap over documents.",
        *scores.gaps,
        *scores.remarks,
    )


def draw(_: Any, frames: Frames, *, seed: int = 0) -> Iterator[tuple[str, Figure]]:
    """``correlations``: partial Pearson correlations of all measures with their intervals, best
    first, for each part of the data. ``ablation``: over all summaries, of the best measures of ours
    and the best published ones.
    """
    found = frames[CORRELATIONS]
    rows = found[(found["kind"] == "partial") & (found["method"] == "pearson")]
    rows = rows.sort_values("value", ascending=False, kind="stable", na_position="last")
    rows = rows.assign(grey=np.where(rows["section"] == PUBLISHED, "s", ""))
    known = rows[rows["part"] == "all"].dropna(subset="value")
    panels = {
        part_name(part): rows[rows["part"] == part]
        .set_index("column")
        .loc[known["column"]]
        .set_index("measure")
        for part in ("all", *DATASETS)
    }
    caption = "partial r with factuality, 95% intervals; round: measured here or from a file, square: published"
    yield "correlations", shared.plot_intervals(panels, 0, caption, wider=1.5)
    best = [
        known[known["section"].isin(names)]["column"].head(count) for names, count in SHOWN.items()
    ]
    yield "ablation", _draw_ablation(frames[ABLATION], list(pd.concat(best)))


def _draw_ablation(ablated: pd.DataFrame, columns: list[str]) -> Figure:
    from estime_metric.comparison.plots.style import (
        COLOURS,
        GREY,
        LABEL,
        MARKERS,
        TICK,
        WIDTH,
        make_plain,
        new_figure,
    )

    rows = ablated[ablated["part"] == "all"]
    errors = list(dict.fromkeys(rows["error"]))
    figure = new_figure(WIDTH + 1.5, 4.2)
    axes = figure.subplots()
    for number, column in enumerate(columns):
        of_measure = rows[rows["column"] == column].set_index("error").loc[errors]
        positions = np.arange(len(errors)) + 0.12 * (
            number - (len(columns) - 1) / 2
        )  # side by side
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        axes.vlines(positions, of_measure["low"], of_measure["high"], color=colour, linewidth=1.0)
        label = of_measure["measure"].iloc[0]
        axes.plot(positions, of_measure["value"], marker, color=colour, markersize=4, label=label)
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.set_xticks(
        range(len(errors)), [ERRORS.get(error, error) for error in errors], rotation=35, ha="right"
    )
    axes.set_ylabel("partial r less that with the type flipped", fontsize=LABEL)
    if columns:
        figure.legend(fontsize=TICK, ncols=3, frameon=False, loc="outside upper center")
    make_plain(axes)
    return figure
