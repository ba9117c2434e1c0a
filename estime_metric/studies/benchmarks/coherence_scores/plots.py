"""Plots of the published scores: bias matrices, agreement within systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.statistics import (
    judgements_of,
)
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.meta import bootstrap_groups
from estime_metric.studies.meta.bias import BIAS_PAIRS, bias_matrix, rank_systems

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The paper's best measures (Figures 2 and 5), which are plotted.
DRAWN = (
    "human",
    "ccl-roberta-large-ours-cnndm",
    "ccl-roberta-large-ours-wsj",
    "bartscore",
    "gruen",
    "sumqe",
)


def draw(
    scores: Scores[CoherenceScores], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """Bias matrices of both kinds, and agreement within systems."""
    from estime_metric.studies.meta import plots

    data = scores.data
    drawn = [column for column in scores.known if column.name in DRAWN]
    values, ends = {}, {}
    order = rank_systems(judgements_of(data))
    for column in drawn:
        grid = scores.grid(column, "coherence")
        for compared in BIAS_PAIRS:
            bias = bias_matrix(grid.scores, grid.judgements, data.names, compared)
            name = f"bias-{column.name}-{compared.replace('_', '-')}"
            yield name, plots.plot_bias(bias, column.label)
        groups = bootstrap_groups(grid, method="kendall_b", seed=seed)
        values[column.label] = groups["value"].to_numpy()[order]
        ends[column.label] = groups[["low", "high"]].to_numpy()[order]
    if drawn:
        title = "Agreement with judged coherence within each system, best system first"
        ordered = [data.names[index] for index in order]
        yield "intra-system", plots.plot_intra_system(values, ordered, ends, title=title)
