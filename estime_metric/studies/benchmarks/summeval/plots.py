"""Plots of the study: layers, scores against judgements, bias, agreement within each system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.scoring import Measure, Scores
from estime_metric.studies.benchmarks.shared.study import Frames
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.meta.bias import bias_matrix
from estime_metric.studies.meta.resampling import bootstrap_groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What ESTIME is meant to see.
QUALITY = "consistency"
#: Measures beside ESTIME in the bars of each system.
COMPARED = ("jensen_shannon", "bertscore_f1", "rouge_2", "absent_words")
RESAMPLES = 1000


def draw(
    scores: Scores[SummEval], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """The plots, each with a name for its files; one that needs what was not measured is left out.

    Of the first measure of ESTIME in Tables 1 and 2: ``scores`` against consistency, the ``bias``
    matrix, and it and others ``intra_system``. Where several layers were read, the curves of
    appendix A: ``layers_spearman`` and ``layers_kendall`` at the summary level, ``layers_system``
    for consistency at the system level.
    """
    from estime_metric.studies.meta import plots

    known, data = scores.known, scores.data
    of_estime = [one for one in known if one.column.startswith("estime_")]
    if first := next((one for one in of_estime if one.main and len(data.keys)), None):
        both = scores.grid(first, data.judgements[QUALITY], QUALITY)
        yield (
            "scores",
            plots.plot_scores(both.scores, both.judgements, data.labels, first.label, QUALITY),
        )
        bias = bias_matrix(both.scores, both.judgements, data.labels)
        yield "bias", plots.plot_bias(bias, f"{first.label}, {QUALITY}")
        shown = [first, *(one for one in known if one.column in COMPARED)]
        yield "intra_system", _within_systems(scores, shown, seed)
    yield from _curves(frames["correlations.csv"], of_estime)


def _within_systems(scores: Scores[SummEval], measures: list[Measure], seed: int) -> Figure:
    from estime_metric.studies.meta import plots

    tables = {
        one.label: bootstrap_groups(
            grid, level="intra_system", method="spearman", n=RESAMPLES, seed=seed
        )
        for one in measures
        for grid in [scores.grid(one, scores.data.judgements[QUALITY], QUALITY)]
    }
    return plots.plot_intra_system(
        {label: table["value"].to_numpy(dtype=np.float64) for label, table in tables.items()},
        scores.data.labels,
        {
            label: table[["low", "high"]].to_numpy(dtype=np.float64)
            for label, table in tables.items()
        },
        statistic="Spearman's ρ",
        title=f"Agreement with judged {QUALITY} within each system, 95% intervals",
    )


def _curves(found: pd.DataFrame, measures: list[Measure]) -> Iterator[tuple[str, Figure]]:
    from estime_metric.studies.meta import plots

    layers = sorted({one.layer for one in measures if one.layer is not None})
    units = list(dict.fromkeys(one.unit for one in measures))
    if len(layers) < 2:
        return
    kinds = (f"unit {units[0]}", f"unit {units[1]}") if len(units) > 1 else ("", "")
    value = found.set_index(["column", "quality", "level", "method"])["value"]
    columns = {(one.unit, one.layer): one.column for one in measures}

    def curves(title: str, statistic: str, lines: dict[str, tuple[str, str, str]]) -> Figure:
        """A curve for each quality, level and method, by its name; of a second unit too."""
        sets = [
            {
                name: [
                    float(value[columns[unit, layer], quality, level, method]) for layer in layers
                ]
                for name, (quality, level, method) in lines.items()
            }
            for unit in units
        ]
        return plots.plot_layers(
            sets[0], layers, statistic, title, sets[1] if len(sets) > 1 else None, kinds
        )

    title = "ESTIME and the experts by layer, summary level"
    statistics = {"Spearman's ρ": "spearman", "Kendall's τ-c": "kendall_c"}
    for name, (statistic, method) in zip(
        ("layers_spearman", "layers_kendall"), statistics.items(), strict=True
    ):
        yield (
            name,
            curves(
                title, statistic, {quality: (quality, "summary", method) for quality in QUALITIES}
            ),
        )
    lines = {name: (QUALITY, "system", method) for name, method in statistics.items()}
    yield (
        "layers_system",
        curves(f"ESTIME and judged {QUALITY} by layer, system level", "correlation", lines),
    )
