"""SummEval's tables for readers: the ESTIME paper's Tables 1 and 2, layers, and measures from
files.
"""

from __future__ import annotations

from itertools import product

import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import SECTIONS
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.running import Frames
from estime_metric.studies.benchmarks.shared.scored import Scored
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.benchmarks.summeval.statistics import CORRELATIONS, DIFFERENCES
from estime_metric.studies.printed import Table, intervals, p_values

SYMBOLS = {"spearman": "ρ", "kendall_c": "τ"}


def make_tables(scored: Scored[SummEval], frames: Frames) -> list[Table]:
    """``table1`` and ``table2`` of the paper; ``layers`` if several were read, ``differences`` if
    there is a second setting or scores of files.
    """
    correlations, data = frames[CORRELATIONS], scored.data
    main = [column.name for column in scored.columns if column.main]
    rows = correlations[correlations["column"].isin(main) | correlations["column"].isna()]
    rows = rows.sort_values("section", key=lambda names: names.map(SECTIONS.index), kind="stable")
    unnamed = "The data does not name the systems: position k of each row's list is treated as the same system."
    made = [
        Table(
            "table1",
            "The paper's Table 1, summary level: correlation of measures with the mean of three experts, Spearman's ρ "
            f"and Kendall's τ-c, {len(data)} summaries.",
            {quality: _with_printed(rows, quality, "summary") for quality in QUALITIES},
            [_about_p_values(rows), *_notes(scored)],
        ),
        Table(
            "table2",
            f"The paper's Table 2, system level: correlation of {len(data.systems)} systems' mean scores with their mean "
            f"consistency, Spearman's ρ and Kendall's τ-c, {len(data.documents)} documents.",
            {"": _with_printed(rows, "consistency", "system")},
            [*_notes(scored), *([] if data.named_systems else [unnamed])],
        ),
    ]
    if len({column.layer for column in scored.known if column.layer is not None}) > 1:
        made.append(layers(scored, correlations))
    if DIFFERENCES in frames:
        made.append(differences(scored, frames[DIFFERENCES]))
    return made


def _with_printed(rows: pd.DataFrame, quality: str, level: str) -> pd.DataFrame:
    """Each measure's correlations with a quality, the paper's figures next to them."""
    part = rows[(rows["quality"] == quality) & (rows["level"] == level)]
    rho, tau = (part[part["method"] == method] for method in SYMBOLS)
    return pd.DataFrame(
        {
            "measure": rho["measure"].array,
            "ρ": rho["value"].array,
            "ρ paper": rho["paper"].array,
            "ρ 95%": intervals(rho),
            "ρ p": p_values(rho["p_value"]),
            "τ": tau["value"].array,
            "τ paper": tau["paper"].array,
        }
    )


def layers(scored: Scored[SummEval], correlations: pd.DataFrame) -> Table:
    """The curve of appendix A: each layer's correlations; a section per measure and statistic."""
    wide = correlations.dropna(subset="column").pivot(
        index=["method", "column"], columns=["level", "quality"], values="value"
    )
    keys = {quality: ("summary", quality) for quality in QUALITIES}
    keys["consistency, system level"] = "system", "consistency"
    in_layers = [column for column in scored.known if column.layer is not None]
    measures = {
        column.name: column.label.replace(f"-{column.layer}", "", 1) for column in in_layers
    }
    sections = {}
    for measure, (method, symbol) in product(dict.fromkeys(measures.values()), SYMBOLS.items()):
        columns = [column for column in in_layers if measures[column.name] == measure]
        rows = wide.loc[[(method, column.name) for column in columns]]
        sections[f"{measure}, {symbol}"] = pd.DataFrame(
            {
                "layer": [str(column.layer) for column in columns],
                "mean": [float(scored.frame[column.name].mean()) for column in columns],
                **{heading: rows[key].array for heading, key in keys.items()},
            }
        )
    return Table(
        "layers",
        "By layer (appendix A of the paper): mean over the summaries, correlation with the experts at the summary "
        "level, and with consistency at the system level; Spearman's ρ and Kendall's τ-c.",
        sections,
        _notes(scored),
    )


def differences(scored: Scored[SummEval], compared: pd.DataFrame) -> Table:
    """Scores of files and a second setting, compared with ESTIME: `statistics.differences`."""
    sections = {}
    for quality, rows in compared.groupby("quality", sort=False):
        shown = rows[["measure", "than", "documents", "difference"]].set_axis(
            ["measure", "minus", "documents", "ρ more"], axis=1
        )
        ends = {"95%": intervals(rows), "p": p_values(rows["p_value"])}
        sections[str(quality)] = shown.assign(**ends)
    return Table(
        "differences",
        "Differences of Spearman's ρ with the experts, summary level.",
        sections,
        [
            "Positive: the measure agrees better than the one that is subtracted. Intervals: bootstrap over documents. "
            "p: the test of Williams, two-sided, which treats summaries as independent and is approximate for ρ.",
            *(note for notes in scored.notes.values() for note in notes),
        ],
        texts=["minus"],
    )


def _about_p_values(rows: pd.DataFrame) -> str:
    """One line on the p-values that the paper's caption names: those above .01."""
    known = rows[(rows["level"] == "summary") & rows["method"].isin(SYMBOLS)].dropna(
        subset="p_value"
    )
    above = int((known["p_value"] > 0.01).sum())
    return (
        "p: two-sided, of no correlation, with summaries treated as independent; "
        f"{above} of {len(known)} are above .01."
    )


def _notes(scored: Scored[SummEval]) -> list[str]:
    data = scored.data
    return [
        f"Computed in this run on {data.origin} ({len(data.documents)} documents, {len(data.systems)} systems); the "
        "signatures are listed below. paper: printed in Vasilyev & Bohannon 2021, ESTIME with "
        "bert-large-uncased-whole-word-masking and BERTScore with roberta-large; not computed in this run.",
        "(-): the score is negated, so that higher is better in every row. Length: words; absent words: words that the "
        "source does not have. 95%: percentiles of a bootstrap over documents.",
        *scored.gaps(QUALITIES[0]),
        *scored.remarks,
    ]
