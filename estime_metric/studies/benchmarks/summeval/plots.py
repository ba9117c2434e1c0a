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
    import pandas as pd
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


#: A system-level correlation with a larger p-value is not drawn, as in the paper's Figure 3.
LARGEST_P = 0.05


def draw(
    scored: Scored[SummEval], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """The plots, each with a name for its files, if several layers were read: ``layers_spearman`` and
    ``layers_kendall`` of the alarms at the summary level, ``layers_system`` for consistency at the
    system level. Thin lines are a second setting, by its first measure in addition to alarms and
    `RECOMMENDED`, or else by its alarms; without one, they are such a measure of the first setting
    (appendix B). Layers of an encoder with another number of blocks are rescaled to the blocks of the
    first.
    """
    first = _by_layer(scored, PAPER_MEASURE, second_setting=False)
    if len(first) < 2:
        return
    has_second = any(column.setting for column in scored.known)
    measures = dict.fromkeys(
        column.measure
        for column in scored.known
        if column.measure and bool(column.setting) == has_second
    )
    added = [name for name in measures if name not in (PAPER_MEASURE, RECOMMENDED)]
    measure = next(iter((*added, *([PAPER_MEASURE] if has_second else []))), None)
    second = _by_layer(scored, measure, second_setting=has_second)
    from estime_metric.studies.meta import plots

    table = frames[CORRELATIONS]
    is_drawn = (table["level"] != "system") | (table["p_value"] < LARGEST_P)
    correlations = table.assign(value=table["value"].where(is_drawn)).set_index(
        ["quality", "level", "method", "column"]
    )["value"]
    for name, (title, statistic, keys) in _CURVE_PLOTS.items():
        yield (
            name,
            plots.plot_layers(
                _curves(correlations, keys, first),
                [column.layer or 0 for column in first],
                statistic,
                title,
                others=_curves(correlations, keys, second),
                other_layers=[_rescaled(column, first[0]) for column in second],
                kinds=("ESTIME", _kind(second[0], first[0])) if second else ("", ""),
            ),
        )


def _by_layer(
    scored: Scored[SummEval], measure: str | None, *, second_setting: bool
) -> list[ScoreColumn]:
    """The columns of a measure of ESTIME in one of the settings, by rising layer."""
    columns = [
        column
        for column in scored.known
        if column.measure == measure is not None and bool(column.setting) == second_setting
    ]
    return sorted(columns, key=lambda column: column.layer or 0)


def _curves(
    correlations: pd.Series, keys: dict[str, tuple[str, str, str]], columns: Sequence[ScoreColumn]
) -> dict[str, list[float]]:
    """Label of each curve -> the correlation of each column."""
    return {
        label: [float(correlations[(*key, column.name)]) for column in columns]
        for label, key in keys.items()
    }


def _kind(second: ScoreColumn, first: ScoreColumn) -> str:
    """What the thin lines are."""
    name = second.setting or str(second.measure)
    return name if second.blocks == first.blocks else f"{name},\nlayers rescaled"


def _rescaled(column: ScoreColumn, first: ScoreColumn) -> float:
    """The layer at the same relative depth in the encoder of the first setting."""
    return (column.layer or 0) * (first.blocks or 1) / (column.blocks or 1)
