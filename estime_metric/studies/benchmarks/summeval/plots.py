"""SummEval's plots: layers, scores against judgements, bias, agreement within each system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

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

    Of the first measure of ESTIME in Tables 1 and 2: the ``bias`` matrix, and it and others
    ``intra_system``. If several layers were read, the curves of appendix
    A: ``layers_spearman`` and ``layers_kendall`` at the summary level, ``layers_system`` for
    consistency at the system level.
    """
    from estime_metric.studies.meta import plots

    data = scores.data
    of_estime = [column for column in scores.known if column.layer is not None]
    of_alarms = [column for column in of_estime if column.name.startswith("estime_")]
    first = next((column for column in of_alarms if column.main and len(data)), None)
    if first is not None:
        grid = scores.grid(first, QUALITY)
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
            scores.grid(column, QUALITY),
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


#: Plot of curves over layers -> its title, the statistic on its axis, and label of a curve -> the key
#: of a row of ``correlations.csv`` behind its column.
_CURVE_PLOTS: dict[str, tuple[str, str, dict[str, tuple[str, str, str]]]] = {
    "layers_spearman": (
        "ESTIME and the experts by layer, summary level",
        "Spearman's ρ",
        {quality: (quality, "summary", "spearman") for quality in QUALITIES},
    ),
    "layers_kendall": (
        "ESTIME and the experts by layer, summary level",
        "Kendall's τ-c",
        {quality: (quality, "summary", "kendall_c") for quality in QUALITIES},
    ),
    "layers_system": (
        f"ESTIME and judged {QUALITY} by layer, system level",
        "correlation",
        {
            "Spearman's ρ": (QUALITY, "system", "spearman"),
            "Kendall's τ-c": (QUALITY, "system", "kendall_c"),
        },
    ),
}


def _curves(frame: pd.DataFrame, columns: Sequence[ScoreColumn]) -> Iterator[tuple[str, Figure]]:
    """The plots over layers; of two units, the second one's curves too."""
    from estime_metric.studies.meta import plots

    layers = sorted({column.layer for column in columns if column.layer is not None})
    units = list(dict.fromkeys(column.unit for column in columns))
    if len(layers) < 2:
        return
    value = frame.set_index(["quality", "level", "method", "column"])["value"].sort_index()
    name_of = {(column.unit, column.layer): column.name for column in columns}
    for name, (title, statistic, lines) in _CURVE_PLOTS.items():
        first, *others = [
            {
                label: [float(value[key][name_of[unit, layer]]) for layer in layers]
                for label, key in lines.items()
            }
            for unit in units[:2]
        ]
        second: dict[str, Any] = {}
        if others:
            second = {"others": others[0], "kinds": tuple(f"unit {unit}" for unit in units[:2])}
        yield name, plots.plot_layers(first, layers, statistic, title, **second)
