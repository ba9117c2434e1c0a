"""SummEval: which measures it compares, what it computes of their scores, and the tables and plots
of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.comparison.tables import Cell, Column, Section, Table
from estime_metric.inputs import check_choice
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared import baselines, estime_paper
from estime_metric.studies.benchmarks.shared import study as shared
from estime_metric.studies.benchmarks.shared.bertscore import bertscore_block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.scoring import (
    OWN,
    REFERENCE_BASED,
    REFERENCE_FREE,
    SECTIONS,
    Block,
    Measure,
    Scores,
)
from estime_metric.studies.benchmarks.shared.study import Frames, Shown
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.benchmarks.summeval.plots import draw
from estime_metric.studies.meta.correlations import UndefinedCorrelationError
from estime_metric.studies.meta.resampling import evaluate_all
from estime_metric.studies.meta.significance import bootstrap_difference, williams_test

__all__ = ["all_blocks", "analyze", "draw", "tables"]

#: What is computed: the paper's two levels and two statistics, and Pearson's r.
LEVELS = ("summary", "system")
METHODS = ("spearman", "kendall_c", "pearson")
SYMBOLS = {"spearman": "ρ", "kendall_c": "τ"}
CORRELATIONS, DIFFERENCES = "correlations.csv", "differences.csv"
HERE, PAPER, FILE, FAILED = "here", "paper", "file", "failed"
PRINTED = {
    REFERENCE_FREE: estime_paper.REFERENCE_FREE,
    REFERENCE_BASED: estime_paper.REFERENCE_BASED,
}
#: The paper's row before which ESTIME with another layer stands.
FIRST_ESTIME = "(-)ESTIME-12"


def all_blocks(
    options: Mapping[str, Any],
    units: Sequence[str],
    *,
    combine: str = "mean",
    bert_model: str | None = None,
    bert_layer: int | None = None,
    progress: bool = False,
) -> list[Block]:
    """ESTIME with each unit, then the other measures. The encoder is loaded, so that a bad option
    is known at once.

    ``options`` are those of `EstimeConfig` but ``unit``; ``units`` some of ``token`` and ``word``,
    each once; ``combine`` one of `baselines.COMBINE`; ``bert_model`` and ``bert_layer`` those of
    `BertScorer`, no BERTScore where ``None``; ``progress``: bars of the scorer. Errors as
    `EstimeScorer`, ValueError for ``units`` and ``combine``.
    """
    if not units or len(set(units)) < len(units):
        raise ValueError(
            f"Expected argument `units` to name each unit once, but got {', '.join(units) or 'none'}."
        )
    others, ours = baseline_blocks(combine, bert_model, bert_layer, options.get("device")), []
    for unit in units:
        chosen = {**options, "unit": unit}
        if unit == "token" and options.get("tagger") is None:
            chosen.pop("splitter", None)  # it splits nothing
        ours.append(estime_block(EstimeScorer(**chosen), progress=progress))
    return [*ours, *others]


def baseline_blocks(
    combine: str = "mean",
    bert_model: str | None = None,
    bert_layer: int | None = None,
    device: str | None = None,
) -> list[Block]:
    """The measures beside ESTIME, see `all_blocks`."""
    check_choice("combine", combine, baselines.COMBINE)

    def references(data: SummEval) -> Sequence[Sequence[str]]:
        return data.references_of_each

    first, last = baselines.divergence_block(), baselines.trivial_block()
    others = [baselines.bleu_block(references, combine), baselines.rouge_block(references, combine)]
    if bert_model is not None:
        others.insert(
            0,
            bertscore_block(
                bert_model, references, layer=bert_layer, combine=combine, device=device
            ),
        )
    return [first, *others, last]


def analyze(scores: Scores[SummEval], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How well each measure agrees with each quality, with 95% intervals of a bootstrap over
    documents.

    ``correlations.csv``: ``column``, ``measure`` (its label), ``section``, ``quality``, ``level``,
    ``method``, ``value`` (NaN where all scores or all judgements are equal), ``low``, ``high``, and
    ``undefined``, the resamples without a value. Where scores of files stand beside ESTIME,
    ``differences.csv``, see `differences`.
    """

    def correlations(one: Measure) -> pd.DataFrame:
        grids = (
            scores.grid(one, judged, quality) for quality, judged in scores.data.judgements.items()
        )
        options: dict[str, Any] = {"levels": LEVELS, "methods": METHODS, "resample": "documents"}
        return evaluate_all(grids, **options, n=resamples, seed=seed).rename(
            columns={"judgement": "quality"}
        )

    columns = ["quality", "level", "method", "value", "low", "high", "undefined"]
    frames = {CORRELATIONS: shared.each(scores, correlations, columns)}
    if len(compared := differences(scores, resamples, seed)):
        frames[DIFFERENCES] = compared
    return frames


def differences(scores: Scores[SummEval], resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Each measure from a file less ESTIME's first row, Spearman's rho at the summary level.

    Both are taken over the documents in which both score every system.

    Tidy: ``column``, ``measure``, ``section``, ``than`` (ESTIME's row), ``quality``, ``documents``,
    ``difference``, ``low``, ``high`` (bootstrap over documents) and ``p_value`` (Williams' test);
    no rows where no file was read or ESTIME not measured, NaN where scores are constant or
    documents too few.
    """
    ours = next((one for one in scores.known if one.main and one.layer is not None), None)
    names = ["than", "quality", "documents", "difference", "low", "high", "p_value"]

    def compare(one: Measure) -> pd.DataFrame:
        rows = []
        for quality, judged in scores.data.judgements.items():
            if ours is None or one.section != OWN:
                break
            first = scores.grid(one, judged, quality, scores.values[ours.column])
            second = scores.grid(ours, judged, quality, scores.values[one.column])
            what: dict[str, Any] = {"level": "summary", "method": "spearman"}
            try:
                found = bootstrap_difference(
                    first, second, **what, resample="documents", n=resamples, seed=seed
                )
                values = (
                    found.difference,
                    found.low,
                    found.high,
                    williams_test(first, second, **what).p_value,
                )
            except (UndefinedCorrelationError, ValueError):
                values = (float("nan"),) * 4
            rows.append((ours.label, quality, len(first.documents), *values))
        return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[3:], float))

    return shared.each(scores, compare, names)


def tables(scores: Scores[SummEval], frames: Frames) -> list[Table]:
    """The paper's two tables, intervals; layers where several were read, ``own`` where scores of
    files were.
    """
    found = frames[CORRELATIONS]
    rows = shared.lookup(found, "column", "quality", "level", "method")
    made = [*paper_tables(scores, rows), intervals(scores, found)]
    of_layers = [one for one in scores.known if one.layer is not None]
    if len({one.layer for one in of_layers}) > 1:
        made.append(layers(scores, of_layers, rows))
    if DIFFERENCES in frames:
        made.append(own(scores, frames[DIFFERENCES]))
    return made


def paper_tables(scores: Scores[SummEval], found: shared.Rows) -> Iterator[Table]:
    """Table 1: summary level, four qualities, rho and tau-c. Table 2: system level, consistency,
    likewise.
    """
    data, about = scores.data, _notes(scores)
    title = (
        "The paper's Table 1, summary level: correlation of measures with the mean of three experts, Spearman's ρ and "
        f"Kendall's τ-c, {len(data)} summaries."
    )
    key = ("consistency", "summary", "spearman")
    shown = [
        *_of_methods("summary", *QUALITIES),
        shared.with_interval("", "consistency ρ", *key)[1],
    ]
    printed = {label: [*chain(*pairs), None] for label, pairs in estime_paper.TABLE_1.items()}
    yield Table("table1", title, *_beside(scores, shown, found, printed), about)
    title = (
        f"The paper's Table 2, system level: correlation of {len(data.systems)} systems' mean scores with their mean "
        f"consistency, Spearman's ρ and Kendall's τ-c, {len(data.documents)} documents."
    )
    shown = []
    for method, symbol in SYMBOLS.items():
        key = ("consistency", "system", method)
        shown += [
            Shown(Column(symbol), key),
            Shown(Column(f"{symbol}, 95% interval", text=True), key, "interval"),
        ]
    printed = {label: [rho, None, tau, None] for label, (rho, tau) in estime_paper.TABLE_2.items()}
    unnamed = "The data do not name the systems: position k of each row's list is taken for the same system."
    notes = about if data.named_systems else (*about, unnamed)
    yield Table("table2", title, *_beside(scores, shown, found, printed), notes)


def intervals(scores: Scores[SummEval], found: pd.DataFrame) -> Table:
    """What the paper does not print: intervals of rho, and Pearson's r, for all qualities on both
    levels.
    """
    shown = []
    for quality in QUALITIES:
        shown += shared.with_interval("ρ", quality, quality, "spearman")
        shown.append(Shown(Column("r", quality), (quality, "pearson")))
    labels = [(one.column, one.label) for one in scores.known]
    rows = {
        level: shared.lookup(of_level, "column", "quality", "method")
        for level, of_level in found.groupby("level")
    }
    parts = [(f"{level.capitalize()} level", rows.get(level, {}), labels) for level in LEVELS]
    title = "Spearman's ρ with 95% intervals (bootstrap over documents) and Pearson's r, all qualities, both levels."
    return shared.measure_table("intervals", title, shown, parts, _notes(scores))


def layers(scores: Scores[SummEval], measures: Sequence[Measure], found: shared.Rows) -> Table:
    """The curve of appendix A: each layer's correlations, summary level."""
    shown = [
        *_of_methods("summary", *QUALITIES),
        *_of_methods("system", "consistency", prefix="system, "),
    ]
    rows: dict[str, list[tuple[Cell, ...]]] = {}
    for one in measures:
        values = (column.cell(found, one.column) for column in shown)
        row = (one.layer, float(np.nanmean(scores.values[one.column])), *values)
        rows.setdefault(one.label.replace(f"-{one.layer}", "", 1), []).append(row)
    title = (
        "By layer (appendix A of the paper): mean over the summaries, correlation with the experts at the summary "
        "level, and with consistency at the system level; Spearman's ρ and Kendall's τ-c."
    )
    columns = [
        Column("layer", text=True),
        Column("mean", decimals=2),
        *(one.column for one in shown),
    ]
    return Table(
        "layers", title, columns, [Section(*of_name) for of_name in rows.items()], _notes(scores)
    )


def own(scores: Scores[SummEval], compared: pd.DataFrame) -> Table:
    """Scores of files beside ESTIME: the rows of `differences`."""
    shown = [Shown(Column("documents"), (QUALITIES[0],), "documents")]
    for quality in QUALITIES:
        shown += [
            Shown(Column("ρ more", quality), (quality,), "difference"),
            Shown(Column("95% interval", quality, text=True), (quality,), "interval"),
            Shown(Column("p", quality, decimals=4), (quality,), "p_value"),
        ]
    labels = list(dict.fromkeys(zip(compared["column"], compared["measure"], strict=True)))
    parts, ours = (
        [("", shared.lookup(compared, "column", "quality"), labels)],
        compared["than"].iloc[0],
    )
    notes = (
        f"Positive: the file's measure agrees better than {ours}. Intervals: bootstrap over documents. p: the test of "
        "Williams, two-sided, which takes summaries as independent and is approximate for ρ.",
        *(note for said in scores.notes.values() for note in said),
    )
    title = f"Measures from files less {ours}: Spearman's ρ with the experts, summary level."
    return shared.measure_table("own", title, shown, parts, notes)


def _of_methods(level: str, *qualities: str, prefix: str = "") -> list[Shown]:
    return [
        Shown(Column(symbol, f"{prefix}{quality}"), (quality, level, method))
        for quality in qualities
        for method, symbol in SYMBOLS.items()
    ]


def _beside(
    scores: Scores[SummEval],
    shown: Sequence[Shown],
    found: shared.Rows,
    printed: Mapping[str, Sequence[Cell]],
) -> tuple[list[Column], list[Section]]:
    """The rows in the paper's order, what was measured here above the printed row of the same
    measure.
    """

    def rows(section: str) -> Iterator[tuple[Cell, ...]]:
        for label in (*PRINTED.get(section, ()), None):
            for one in scores.measures:
                if one.main and _place(one) == (section, label):
                    origin = (
                        FAILED
                        if one.column not in scores.values
                        else FILE
                        if one.section == OWN
                        else HERE
                    )
                    yield (one.label, origin, *(column.cell(found, one.column) for column in shown))
            if label is not None:
                yield (label, PAPER, *printed[label])

    columns = [
        Column("measure", text=True),
        Column("from", text=True),
        *(one.column for one in shown),
    ]
    sections = [Section(section, list(rows(section))) for section in SECTIONS]
    return columns, [one for one in sections if one.rows]


def _place(measure: Measure) -> tuple[str, str | None]:
    """The section of a measure and the paper's row above which it stands; ``None``: below all of
    them.
    """
    name = measure.label.split(" [")[0] if measure.section == OWN else measure.label
    for section, labels in PRINTED.items():
        if name in labels and measure.section in (section, OWN):
            return section, name
    return measure.section, FIRST_ESTIME if measure.layer is not None else None


def _notes(scores: Scores[SummEval]) -> tuple[str, ...]:
    data = scores.data
    return (
        f"Rows from {HERE!r} were measured now, on {data.origin} ({len(data.documents)} documents, "
        f"{len(data.systems)} systems); their signatures stand below.",
        f"Rows from {PAPER!r} are printed in Vasilyev & Bohannon 2021, ESTIME with "
        "bert-large-uncased-whole-word-masking and BERTScore with roberta-large; they were not measured here.",
        "(-): the score is negated, so that higher is better in every row. Length: words; absent words: words that the "
        "source does not have. Intervals: percentiles of a bootstrap over documents.",
        *scores.remarks,
    )
