"""SummEval's plots: the curves over layers of appendix A of the ESTIME paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.benchmarks.summeval.statistics import CORRELATIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What ESTIME is meant to see.
QUALITY = "consistency"
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


def draw(
    scores: Scores[SummEval], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """The plots, each with a name for its files, if several layers were read: ``layers_spearman`` and
    ``layers_kendall`` of the alarms at the summary level, ``layers_system`` for consistency at the
    system level. Of two units, they have the second one's curves too.
    """
    from estime_metric.studies.meta import plots

    columns = [column for column in scores.known if column.name.startswith("estime_")]
    layers = sorted({column.layer for column in columns if column.layer is not None})
    units = list(dict.fromkeys(column.unit for column in columns))
    if len(layers) < 2:
        return
    frame = frames[CORRELATIONS]
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
