"""Plots of the published scores: bias matrices and agreement within systems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.statistics import (
    WITHIN_SYSTEMS,
    architecture,
    drawn,
    judgements_of,
)
from estime_metric.studies.benchmarks.shared.running import Frames
from estime_metric.studies.benchmarks.shared.scored import Scored
from estime_metric.studies.meta.bias import BIAS_PAIRS, bias_matrix, rank_systems

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(scored: Scored[CoherenceScores], frames: Frames) -> Iterator[tuple[str, Figure]]:
    """Bias matrices of both kinds (Figures 2 and 3) and agreement within systems (Figure 5) of the
    measures `statistics.drawn`, the first also of the confounder "architecture".
    Figures 1 and 6 describe the data, and Figure 4 needs texts that were not published.
    """
    from estime_metric.studies.meta import plots

    data = scored.data
    judgements = judgements_of(data)
    order = rank_systems(judgements)
    biased = {"architecture": ("architecture", architecture(data), judgements)}
    for column, grid in drawn(scored).items():
        biased[column] = (grid.measure, grid.scores, grid.judgements)
    for name, (label, scores, judged) in biased.items():
        for compared in BIAS_PAIRS:
            bias = bias_matrix(scores, judged, data.names, compared)
            measure = re.sub(r"[^\w.-]+", "-", name)
            yield f"bias-{measure}-{compared.replace('_', '-')}", plots.plot_bias(bias, label)
    if WITHIN_SYSTEMS in frames and len(within := frames[WITHIN_SYSTEMS]):
        agreement = {
            str(label): rows.iloc[order] for label, rows in within.groupby("measure", sort=False)
        }
        ordered = [data.names[index] for index in order]
        title = "Agreement with judged coherence within each system, best system first"
        yield "intra-system", plots.plot_intra_system(agreement, ordered, title)
