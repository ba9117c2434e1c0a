"""Plots of the published scores: bias matrices and agreement within systems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.statistics import (
    architecture,
    judgements_of,
)
from estime_metric.studies.benchmarks.shared.blocks import OWN
from estime_metric.studies.benchmarks.shared.running import Frames
from estime_metric.studies.benchmarks.shared.scored import Scored
from estime_metric.studies.meta import evaluate_all
from estime_metric.studies.meta.bias import BIAS_PAIRS, bias_matrix, rank_systems
from estime_metric.studies.meta.grid import by_system

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
    scored: Scored[CoherenceScores], frames: Frames, *, seed: int = 0
) -> Iterator[tuple[str, Figure]]:
    """Bias matrices of both kinds (Figures 2 and 3) and agreement within systems (Figure 5) of the
    measures `DRAWN` and of those from files, the first also of the confounder "architecture". Figure 4
    needs the lengths of texts that were not published.
    """
    from estime_metric.studies.meta import plots

    data = scored.data
    judgements = judgements_of(data)
    order = rank_systems(judgements)
    agreement = {}
    biased = {"architecture": ("architecture", architecture(data), judgements)}
    for column in scored.known:
        grid = scored.grid(column, "coherence")
        if grid.documents and (column.name in DRAWN or column.section == OWN):
            biased[column.name] = (column.label, grid.scores, grid.judgements)
            agreement[column.label] = evaluate_all(
                by_system(grid),
                levels=["summary"],
                methods=["kendall_b"],
                resample="documents",
                seed=seed,
            ).iloc[order]
    for name, (label, scores, judged) in biased.items():
        for compared in BIAS_PAIRS:
            bias = bias_matrix(scores, judged, data.names, compared)
            measure = re.sub(r"[^\w.-]+", "-", name)
            yield f"bias-{measure}-{compared.replace('_', '-')}", plots.plot_bias(bias, label)
    if agreement:
        ordered = [data.names[index] for index in order]
        title = "Agreement with judged coherence within each system, best system first"
        yield "intra-system", plots.plot_intra_system(agreement, ordered, title)
