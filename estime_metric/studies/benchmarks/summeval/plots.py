"""SummEval's plots: the curves over layers of appendices A to F of the ESTIME paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from estime_metric.measures import PAPER_MEASURE, RECOMMENDED
from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
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


def draw(
    scores: Scores[SummEval], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """The plots, each with a name for its files, if several layers were read: ``layers_spearman`` and
    ``layers_kendall`` of the alarms at the summary level, ``layers_system`` for consistency at the
    system level. A second setting is drawn with thin lines: its first measure in addition to alarms
    and `RECOMMENDED`, or else its alarms; layers of an encoder with another number of blocks are
    rescaled to the blocks of the first.
    """
    first = _by_layer(scores, PAPER_MEASURE, second_setting=False)
    if len(first) < 2:
        return
    second = _by_layer(scores, _second_measure(scores), second_setting=True)
    from estime_metric.studies.meta import plots

    correlations = frames[CORRELATIONS].set_index(["quality", "level", "method", "column"])["value"]
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


def _by_layer(scores: Scores[SummEval], measure: str, *, second_setting: bool) -> list[ScoreColumn]:
    """The columns of a measure of ESTIME in one of the settings, by rising layer."""
    columns = [
        column
        for column in scores.known
        if column.measure == measure and bool(column.setting) == second_setting
    ]
    return sorted(columns, key=lambda column: column.layer or 0)


def _second_measure(scores: Scores[SummEval]) -> str:
    """The measure that the curves of the second setting show."""
    measures = [column.measure for column in scores.known if column.measure and column.setting]
    added = [measure for measure in measures if measure not in (PAPER_MEASURE, RECOMMENDED)]
    return added[0] if added else PAPER_MEASURE


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
    return (
        second.setting if second.blocks == first.blocks else f"{second.setting},\nlayers rescaled"
    )


def _rescaled(column: ScoreColumn, first: ScoreColumn) -> float:
    """The layer at the same relative depth in the encoder of the first setting."""
    return (column.layer or 0) * (first.blocks or 1) / (column.blocks or 1)
