"""SummEval's plots: the curves over layers of appendices A to F of the ESTIME paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from estime_metric.measures import PAPER_MEASURE, RECOMMENDED
from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.running import Frames
from estime_metric.studies.benchmarks.shared.scored import Scored
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.studies.benchmarks.summeval.statistics import CORRELATIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What ESTIME is meant to see.
QUALITY = "consistency"
#: Plot of curves over layers -> the statistic on its axis, and label of a curve -> the key of a row of
#: ``correlations.csv`` behind its column.
_CURVES = {
    "layers_spearman": (
        "Spearman's ρ",
        {name: (name, "summary", "spearman") for name in QUALITIES},
    ),
    "layers_kendall": (
        "Kendall's τ-c",
        {name: (name, "summary", "kendall_c") for name in QUALITIES},
    ),
    "layers_system": (
        f"correlation with {QUALITY}, system level, where p < .05",
        {
            "Spearman's ρ": (QUALITY, "system", "spearman"),
            "Kendall's τ-c": (QUALITY, "system", "kendall_c"),
        },
    ),
}
#: A system-level correlation with a larger p-value is not drawn, as in the paper's Figure 3.
LARGEST_P = 0.05


def draw(scored: Scored[SummEval], frames: Frames) -> Iterator[tuple[str, Figure]]:
    """The plots, each with a name for its files, if several layers were read: ``layers_spearman`` and
    ``layers_kendall`` of the alarms at the summary level, ``layers_system`` for consistency at the
    system level. Thin lines are a second setting, by its first measure in addition to alarms and
    `RECOMMENDED`, or else by its alarms; without one, they are such a measure of the first setting
    (appendix B). Layers of an encoder with another number of blocks are rescaled to the blocks of the
    first.
    """
    first = _by_layer(scored, "", PAPER_MEASURE)
    if len(first) < 2:
        return
    setting = next((column.setting for column in scored.known if column.setting), "")
    added = [
        column.measure
        for column in scored.known
        if column.setting == setting and column.measure not in (None, PAPER_MEASURE, RECOMMENDED)
    ]
    thin = next(iter(added), PAPER_MEASURE if setting else "")
    second = _by_layer(scored, setting, str(thin))
    from estime_metric.studies.meta import plots

    table = frames[CORRELATIONS]
    is_drawn = (table["level"] != "system") | (table["p_value"] < LARGEST_P)
    correlations = table.assign(value=table["value"].where(is_drawn)).set_index(
        ["quality", "level", "method", "column"]
    )["value"]

    def heights(
        keys: dict[str, tuple[str, str, str]], columns: Sequence[ScoreColumn]
    ) -> dict[str, list[float]]:
        return {
            label: [float(correlations[(*key, column.name)]) for column in columns]
            for label, key in keys.items()
        }

    depth = (first[0].blocks or 1) / (second[0].blocks or 1) if second else 1.0
    kind = f"{setting or thin}{'' if depth == 1 else ', layers rescaled'}"
    for name, (statistic, keys) in _CURVES.items():
        yield (
            name,
            plots.plot_layers(
                heights(keys, first),
                [column.layer or 0 for column in first],
                statistic,
                "ESTIME and the experts by layer",
                others=heights(keys, second),
                other_layers=[(column.layer or 0) * depth for column in second],
                kinds=("ESTIME", kind) if second else ("", ""),
            ),
        )


def _by_layer(scored: Scored[SummEval], setting: str, measure: str) -> list[ScoreColumn]:
    """The columns of a measure of ESTIME in one of the settings, by rising layer."""
    columns = [
        column for column in scored.known if (column.setting, column.measure) == (setting, measure)
    ]
    return sorted(columns, key=lambda column: column.layer or 0)
