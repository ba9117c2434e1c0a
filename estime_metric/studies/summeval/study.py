"""SummEval: which measures it compares, what it computes of their scores, and the tables and plots of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.inputs import check_choice
from estime_metric.meta.correlations import UndefinedCorrelationError
from estime_metric.meta.resampling import bootstrap
from estime_metric.meta.significance import bootstrap_difference, williams_test
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.shared import baselines, estime_paper
from estime_metric.studies.shared.bertscore import bertscore_block
from estime_metric.studies.shared.estime_block import estime_block
from estime_metric.studies.shared.estime_paper import QUALITIES
from estime_metric.studies.shared.scoring import OWN, REFERENCE_BASED, REFERENCE_FREE, SECTIONS, Block, Measure, Scores
from estime_metric.studies.shared.study import Frames, each, lookup
from estime_metric.studies.summeval.data import SummEval
from estime_metric.studies.summeval.plots import draw
from estime_metric.tables import Cell, Column, Section, Table, interval

__all__ = ["all_blocks", "analyze", "draw", "tables"]

#: What is computed: the paper's two levels and two statistics, and Pearson's r.
LEVELS = ("summary", "system")
METHODS = ("spearman", "kendall_c", "pearson")
SYMBOLS = {"spearman": "ρ", "kendall_c": "τ"}
#: Tidy tables among the files.
CORRELATIONS, DIFFERENCES = "correlations.csv", "differences.csv"
#: Where a row comes from.
HERE, PAPER, FILE, FAILED = "here", "paper", "file", "failed"
#: Rows of the paper, by section.
PRINTED = {REFERENCE_FREE: estime_paper.REFERENCE_FREE, REFERENCE_BASED: estime_paper.REFERENCE_BASED}
#: The paper's row before which ESTIME with another layer stands.
FIRST_ESTIME = "(-)ESTIME-12"
#: Column, quality, level, method -> a row of ``correlations.csv``.
Rows = Mapping[tuple[Any, ...], Any]


def all_blocks(
    options: Mapping[str, Any],
    units: Sequence[str],
    *,
    combine: str = "mean",
    bert_model: str | None = None,
    bert_layer: int | None = None,
    progress: bool = False,
) -> list[Block]:
    """ESTIME with each unit, then the other measures. The encoder is loaded, so that a bad option is known at once.

    Args:
        options: of `EstimeConfig`, but ``unit``.
        units: some of ``token`` and ``word``.
        combine: how several references become one value, see `baselines.COMBINE`; BLEU reads all at once, but the first
            alone with ``"first"``.
        bert_model, bert_layer: of `BertScorer`; no BERTScore where ``None``.
        progress: bars of the scorer.

    Raises:
        EncoderUnavailableError, TypeError, ValueError: as `EstimeScorer`; ``combine`` is unknown; or a unit is named
            twice, or none.
    """
    if not units or len(set(units)) < len(units):
        raise ValueError(f"Expected argument `units` to name each unit once, but got {', '.join(units) or 'none'}.")
    others = baseline_blocks(combine, bert_model, bert_layer, options.get("device"))
    scorers = []
    for unit in units:
        chosen = {**options, "unit": unit}
        if unit == "token" and options.get("tagger") is None:
            chosen.pop("splitter", None)  # it splits nothing
        scorers.append(EstimeScorer(**chosen))
    return [*(estime_block(scorer, progress=progress) for scorer in scorers), *others]


def baseline_blocks(
    combine: str = "mean", bert_model: str | None = None, bert_layer: int | None = None, device: str | None = None
) -> list[Block]:
    """The measures beside ESTIME, see `all_blocks`."""
    check_choice("combine", combine, baselines.COMBINE)

    def references(data: SummEval) -> Sequence[Sequence[str]]:
        return data.references_of_each

    blocks = [
        baselines.divergence_block(),
        baselines.bleu_block(references, combine),
        baselines.rouge_block(references, combine),
        baselines.trivial_block(),
    ]
    if bert_model is not None:
        blocks.insert(1, bertscore_block(bert_model, references, layer=bert_layer, combine=combine, device=device))
    return blocks


def analyze(
    scores: Scores[SummEval], *, resamples: int = 1000, seed: int = 0, advance: Callable[[], object] = lambda: None
) -> Frames:
    """How well each measure agrees with each quality, with 95% intervals of a bootstrap over documents.

    Returns:
        ``correlations.csv``: ``column``, ``measure`` (its label), ``section``, ``quality``, ``level``, ``method``,
        ``value``, ``low``, ``high``, and ``undefined``, the resamples without a value. A value is NaN where all scores
        or all judgements are equal. Where scores of files stand beside ESTIME, ``differences.csv``, see `differences`.
    """

    def correlations(one: Measure) -> pd.DataFrame:
        grids = {quality: scores.grid(one, judged, quality) for quality, judged in scores.data.judgements.items()}
        options: dict[str, Any] = {
            "levels": LEVELS,
            "methods": METHODS,
            "resample": "documents",
            "n": resamples,
            "seed": seed,
        }
        return pd.concat(bootstrap(grid, **options).assign(quality=quality) for quality, grid in grids.items())

    columns = ["quality", "level", "method", "value", "low", "high", "undefined"]
    frames = {CORRELATIONS: each(scores, correlations, columns, advance)}
    if len(compared := differences(scores, resamples, seed)):
        frames[DIFFERENCES] = compared
    return frames


def differences(scores: Scores[SummEval], resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Each measure from a file less ESTIME's first row, Spearman's rho at the summary level.

    Both are taken over the documents in which both score every system.

    Returns:
        tidy: ``column``, ``measure``, ``section``, ``than`` (ESTIME's row), ``quality``, ``documents``, ``difference``,
        ``low``, ``high`` (bootstrap over documents) and ``p_value`` (Williams' test); no rows where no file was read or
        ESTIME not measured, NaN where scores are constant or documents too few.
    """
    ours = next((one for one in scores.known if one.main and one.layer is not None), None)
    names = ["than", "quality", "documents", "difference", "low", "high", "p_value"]

    def compare(one: Measure) -> pd.DataFrame:
        rows = []
        for quality, judged in scores.data.judgements.items() if ours is not None and one.section == OWN else ():
            assert ours is not None
            first = scores.grid(one, judged, quality, scores.values[ours.column])
            second = scores.grid(ours, judged, quality, scores.values[one.column])
            what: dict[str, Any] = {"level": "summary", "method": "spearman"}
            try:
                found = bootstrap_difference(first, second, **what, resample="documents", n=resamples, seed=seed)
                values = found.difference, found.low, found.high, williams_test(first, second, **what).p_value
            except (UndefinedCorrelationError, ValueError):
                values = (float("nan"),) * 4
            rows.append((ours.label, quality, len(first.documents), *values))
        return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[3:], float))

    return each(scores, compare, names)


def tables(scores: Scores[SummEval], frames: Frames) -> list[Table]:
    """The paper's two tables, intervals; layers where several were read, ``own`` where scores of files were."""
    found = lookup(frames[CORRELATIONS], "column", "quality", "level", "method")
    made = [table_1(scores, found), table_2(scores, found), intervals(scores, found)]
    of_layers = [one for one in scores.known if one.layer is not None]
    if len({one.layer for one in of_layers}) > 1:
        made.append(layers(scores, of_layers, found))
    if DIFFERENCES in frames:
        made.append(own(scores, frames[DIFFERENCES]))
    return made


def table_1(scores: Scores[SummEval], found: Rows) -> Table:
    """Table 1: summary level, four qualities, rho and tau-c."""

    def ours(column: str) -> list[Cell]:
        row = found[column, "consistency", "summary", "spearman"]
        return [*_both(found, column, "summary", QUALITIES), interval(row.low, row.high)]

    def theirs(label: str) -> list[Cell]:
        return [*(value for pair in estime_paper.TABLE_1[label] for value in pair), None]

    columns = [*_of_methods(*QUALITIES), Column("95% interval", group="consistency ρ", text=True)]
    title = (
        "The paper's Table 1, summary level: correlation of measures with the mean of three experts, Spearman's ρ and "
        f"Kendall's τ-c, {len(scores.data)} summaries."
    )
    return _beside(scores, "table1", title, columns, ours, theirs)


def table_2(scores: Scores[SummEval], found: Rows) -> Table:
    """Table 2: system level, consistency, rho and tau-c."""

    def ours(column: str) -> Iterator[Cell]:
        for row in (found[column, "consistency", "system", method] for method in SYMBOLS):
            yield from (row.value, interval(row.low, row.high))

    def theirs(label: str) -> list[Cell]:
        rho, tau = estime_paper.TABLE_2[label]
        return [rho, None, tau, None]

    columns = []
    for symbol in SYMBOLS.values():
        columns += [Column(symbol), Column(f"{symbol}, 95% interval", text=True)]
    data = scores.data
    title = (
        f"The paper's Table 2, system level: correlation of {len(data.systems)} systems' mean scores with their mean "
        f"consistency, Spearman's ρ and Kendall's τ-c, {len(data.documents)} documents."
    )
    unnamed = "The data do not name the systems: position k of each row's list is taken for the same system."
    return _beside(scores, "table2", title, columns, ours, theirs, () if data.named_systems else (unnamed,))


def intervals(scores: Scores[SummEval], found: Rows) -> Table:
    """What the paper does not print: intervals of rho, and Pearson's r, for all qualities on both levels."""
    columns = [Column("measure", text=True)]
    for quality in QUALITIES:
        columns += [Column("ρ", quality), Column("95% interval", quality, text=True), Column("r", quality)]

    def row_of(one: Measure, level: str) -> Iterator[Cell]:
        yield one.label
        for quality in QUALITIES:
            rho = found[one.column, quality, level, "spearman"]
            yield from (rho.value, interval(rho.low, rho.high), found[one.column, quality, level, "pearson"].value)

    of_levels = tuple(
        Section(f"{level.capitalize()} level", tuple(tuple(row_of(one, level)) for one in scores.known))
        for level in LEVELS
    )
    title = "Spearman's ρ with 95% intervals (bootstrap over documents) and Pearson's r, all qualities, both levels."
    return Table("intervals", title, tuple(columns), of_levels, _notes(scores))


def layers(scores: Scores[SummEval], measures: Sequence[Measure], found: Rows) -> Table:
    """The curve of appendix A: each layer's correlations, summary level."""
    columns = [Column("layer", text=True), Column("mean", decimals=2)]
    columns += _of_methods(*QUALITIES, "system, consistency")
    rows: dict[str, list[tuple[Cell, ...]]] = {}
    for one in measures:
        values = _both(found, one.column, "summary", QUALITIES) + _both(found, one.column, "system", ["consistency"])
        row = (one.layer, float(np.nanmean(scores.values[one.column])), *values)
        rows.setdefault(one.label.replace(f"-{one.layer}", "", 1), []).append(row)
    title = (
        "By layer (appendix A of the paper): mean over the summaries, correlation with the experts at the summary "
        "level, and with consistency at the system level; Spearman's ρ and Kendall's τ-c."
    )
    of_names = tuple(Section(name, tuple(of_name)) for name, of_name in rows.items())
    return Table("layers", title, tuple(columns), of_names, _notes(scores))


def own(scores: Scores[SummEval], compared: pd.DataFrame) -> Table:
    """Scores of files beside ESTIME: the rows of `differences`."""
    columns = [Column("measure", text=True), Column("documents")]
    for quality in QUALITIES:
        columns += [Column("ρ more", quality), Column("95% interval", quality, text=True)]
        columns.append(Column("p", quality, decimals=4))
    rows = []
    for label, group in compared.groupby("measure", sort=False):
        cells: list[Cell] = [str(label), int(group["documents"].iloc[0])]
        for row in group.itertuples():
            cells += [row.difference, interval(row.low, row.high), row.p_value]
        rows.append(tuple(cells))
    ours = compared["than"].iloc[0]
    notes = (
        f"Positive: the file's measure agrees better than {ours}. Intervals: bootstrap over documents. p: the test of "
        "Williams, two-sided, which takes summaries as independent and is approximate for ρ.",
        *(note for said in scores.notes.values() for note in said),
    )
    title = f"Measures from files less {ours}: Spearman's ρ with the experts, summary level."
    return Table("own", title, tuple(columns), (Section("", tuple(rows)),), notes)


def _of_methods(*groups: str) -> list[Column]:
    return [Column(symbol, group=group) for group in groups for symbol in SYMBOLS.values()]


def _both(found: Rows, column: str, level: str, qualities: Sequence[str]) -> list[Cell]:
    return [found[column, quality, level, method].value for quality in qualities for method in SYMBOLS]


def _beside(
    scores: Scores[SummEval],
    name: str,
    title: str,
    columns: Sequence[Column],
    ours: Callable[[str], Iterable[Cell]],
    theirs: Callable[[str], Iterable[Cell]],
    notes: tuple[str, ...] = (),
) -> Table:
    """The rows in the paper's order, what was measured here above the printed row of the same measure."""

    def rows(section: str) -> Iterator[tuple[Cell, ...]]:
        for label in (*PRINTED.get(section, ()), None):
            for one in [one for one in scores.measures if one.main and _place(one) == (section, label)]:
                if one.column in scores.values:
                    yield (one.label, FILE if one.section == OWN else HERE, *ours(one.column))
                else:
                    yield (one.label, FAILED, *[None] * len(columns))
            if label is not None:
                yield (label, PAPER, *theirs(label))

    found = {section: tuple(rows(section)) for section in SECTIONS}
    headings = (Column("measure", text=True), Column("from", text=True), *columns)
    shown = tuple(Section(section, of_it) for section, of_it in found.items() if of_it)
    return Table(name, title, headings, shown, (*_notes(scores), *notes))


def _place(measure: Measure) -> tuple[str, str | None]:
    """The section of a measure and the paper's row above which it stands; ``None``: below all of them."""
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
