"""The measures that most benchmarks compute."""

from __future__ import annotations

from collections.abc import Mapping

from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.blocks import Block, published_block
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.estime_block import Derived, estime_block


def standard_blocks(
    data: Summaries,
    scorer: EstimeScorer,
    *,
    derived: Mapping[str, Derived] | None = None,
    progress: bool = False,
) -> list[Block]:
    """ESTIME with every measure that the scorer computes and those ``derived`` from them, trivial
    baselines, and the scores that come with the data. ``progress`` shows the scorer's own bar.
    """
    computed = estime_block(scorer, every_measure=True, derived=derived, progress=progress)
    return [
        computed,
        trivial_block(),
        *([published_block(data)] if len(data.published.columns) else []),
    ]
