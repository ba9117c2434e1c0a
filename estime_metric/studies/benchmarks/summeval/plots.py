"""SummEval's plots: layers, scores against judgements, bias, agreement within each system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.benchmarks.summeval.statistics import CORRELATIONS
from estime_metric.studies.meta.bias import bias_matrix
from estime_metric.studies.meta.resampling import bootstrap_groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What ESTIME is meant to see.
QUALITY = "consistency"
#: Measures in addition to ESTIME in the bars of each system.
COMPARED = ("jensen_shannon", "bertscore_f1", "rouge_2", "absent_words")
RESAMPLES = 1000


def draw(
    scores: Scores[SummEval], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """The plots, each with a name for its files; one that needs what was not computed is excluded.

    Of the first measure of ESTIME in Tables 1 and 2: ``scores`` against consistency, the ``bias``
    matrix, and it and others ``intra_system``. If several layers were read, the curves of appendix
    A: ``layers_spearman`` and ``layers_kendall`` at the summary level, ``layers_system`` for
    consistency at the system level.
    """
    from estime_metric.studies.meta import plots

    data = scores.data
    of_estime = [column for column in scores.known if column.layer is not None]
    of_alarms = [column for column in of_estime if column.name.startswith("estime_")]
    first = next((column for column in of_alarms if column.main and len(data)), None)
    if first is not None:
        grid = scores.grid(first, data.judgements[QUALITY], QUALITY)
        yield (
            "scores",
            plots.plot_scores(grid.scores, grid.judgements, data.labels, first.label, QUALITY),
        )
        bias = bias_matrix(grid.scores, grid.judgements, data.labels)
        yield "bias", plots.plot_bias(bias, f"{first.label}, {QUALITY}")
        compared = [column for column in scores.known if column.name in COMPARED]
        yield "intra_system", _within_systems(scores, [first, *compared], seed)
    yield from _curves(frames[CORRELATIONS], of_alarms)


def _within_systems(scores: Scores[SummEval], columns: Sequence[ScoreColumn], seed: int) -> Figure:
    from estime_metric.studies.meta import plots

    values, ends = {}, {}
    for column in columns:
        groups = bootstrap_groups(
            scores.grid(column, scores.data.judgements[QUALITY], QUALITY),
            level="intra_system",
            method="spearman",
            n=RESAMPLES,
            seed=seed,
        )
        values[column.label] = groups["value"].to_numpy(dtype=np.float64)
        ends[column.label] = groups[["low", "high"]].to_numpy(dtype=np.float64)
    return plots.plot_intra_system(
        values,
        scores.data.labels,
        ends,
        statistic="Spearman's ρ",
        title=f"Agreement with judged {QUALITY} within each system, 95% intervals",
    )


class _Correlation(NamedTuple):
    """What is correlated, and how: the key of a row of ``correlations.csv`` behind its column."""

    quality: str
    level: str
    method: str


@dataclass(frozen=True)
class _CurvePlot:
    """A plot of curves over layers: label of a curve -> what it shows."""

    name: str
    title: str
    statistic: str
    lines: Mapping[str, _Correlation]


def _curve_plots() -> list[_CurvePlot]:
    summary_level = "ESTIME and the experts by layer, summary level"
    methods = {"Spearman's ρ": "spearman", "Kendall's τ-c": "kendall_c"}
    return [
        _CurvePlot(
            "layers_spearman",
            summary_level,
            "Spearman's ρ",
            {quality: _Correlation(quality, "summary", "spearman") for quality in QUALITIES},
        ),
        _CurvePlot(
            "layers_kendall",
            summary_level,
            "Kendall's τ-c",
            {quality: _Correlation(quality, "summary", "kendall_c") for quality in QUALITIES},
        ),
        _CurvePlot(
            "layers_system",
            f"ESTIME and judged {QUALITY} by layer, system level",
            "correlation",
            {label: _Correlation(QUALITY, "system", method) for label, method in methods.items()},
        ),
    ]


def _curves(frame: pd.DataFrame, columns: Sequence[ScoreColumn]) -> Iterator[tuple[str, Figure]]:
    """The plots over layers; of two units, the second one's curves too."""
    from estime_metric.studies.meta import plots

    layers = sorted({column.layer for column in columns if column.layer is not None})
    units = list(dict.fromkeys(column.unit for column in columns))
    if len(layers) < 2:
        return
    value = frame.set_index(["column", "quality", "level", "method"])["value"]
    name_of = {(column.unit, column.layer): column.name for column in columns}
    for plot in _curve_plots():
        of_unit = [
            {
                label: [
                    float(value[name_of[unit, layer], line.quality, line.level, line.method])
                    for layer in layers
                ]
                for label, line in plot.lines.items()
            }
            for unit in units[:2]
        ]
        if len(of_unit) == 1:
            yield plot.name, plots.plot_layers(of_unit[0], layers, plot.statistic, plot.title)
        else:
            first, second = of_unit
            kinds = (f"unit {units[0]}", f"unit {units[1]}")
            figure = plots.plot_layers(
                first, layers, plot.statistic, plot.title, others=second, kinds=kinds
            )
            yield plot.name, figure
