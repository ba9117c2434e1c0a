"""Plots of the published scores: bias matrices, agreement within systems, distributions of scores and
lengths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.statistics import (
    judgements_of,
)
from estime_metric.studies.benchmarks.shared.blocks import OWN
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
    """Bias matrices of both kinds and agreement within systems (Figures 2, 3 and 5) of the measures
    `DRAWN` and of those from files; the distributions of judgements and lengths (Figures 1 and 6).
    """
    from estime_metric.studies.meta import plots

    data = scores.data
    drawn = [column for column in scores.known if column.name in DRAWN or column.section == OWN]
    values, ends = {}, {}
    judgements = judgements_of(data)
    order = rank_systems(judgements)
    for column in drawn:
        grid = scores.grid(column, "coherence")
        if not grid.documents:
            continue
        for compared in BIAS_PAIRS:
            bias = bias_matrix(grid.scores, grid.judgements, data.names, compared)
            measure = re.sub(r"[^\w.-]+", "-", column.name)
            yield (
                f"bias-{measure}-{compared.replace('_', '-')}",
                plots.plot_bias(bias, column.label),
            )
        groups = bootstrap_groups(grid, method="kendall_b", seed=seed)
        values[column.label] = groups["value"].to_numpy()[order]
        ends[column.label] = groups[["low", "high"]].to_numpy()[order]
    ordered = [data.names[index] for index in order]
    lengths = data.table["summary"].str.len().to_numpy().reshape(judgements.shape)
    for name, table, label in (
        ("judgements", judgements, "judged coherence"),
        ("lengths", lengths, "length in characters"),
    ):
        title = f"{label.capitalize()} by system, best mean judgement first"
        yield name, plots.plot_distributions(table[:, order], ordered, label, title)
    if values:
        title = "Agreement with judged coherence within each system, best system first"
        yield "intra-system", plots.plot_intra_system(values, ordered, ends, title=title)
