"""``estime benchmark frank``: agreement with human judgements of factuality, beside published
metrics.
"""

from __future__ import annotations

from pathlib import Path

from estime_metric.cli import options
from estime_metric.measures import HIGHER_IS_BETTER
from estime_metric.studies.commands.benchmark import shared


def frank(
    folder: Path,
    /,
    *,
    split: str = "test",
    limit: options.PositiveCount | None = None,
    given: shared.RunOptions = shared.RunOptions(),
    others: shared.OtherMeasures = shared.OtherMeasures(),
    measure: shared.EveryMeasure = shared.EveryMeasure(),
) -> int:
    """Correlate ESTIME and published metrics with judged factuality: FRANK, Pagnoni et al. 2021.

    Printed are partial correlations, the system held constant. With --output there are also plain
    correlations, intervals, differences to the best with Williams' test, and the ablation by type
    of error.

    Exit status: 0, all was measured; 1, some measures could not be, the rest is there; 2, nothing
    was measured.

    Args:
        folder: Folder with documents.jsonl and frank.jsonl, or the authors' repository,
            artidoro/frank.
        split: Half of the benchmark: valid to choose by, test to report.
        limit: Only the first documents of CNN/DailyMail and of XSum.
    """
    given.make_folder()
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.frank import data, study

    found = data.read(folder, split, limit)
    own = others.blocks(measure.device)
    scorer = EstimeScorer(measures=tuple(HIGHER_IS_BETTER), **measure.given())
    return given.run(
        study, found, [*study.blocks(scorer, found, progress=not given.quiet), *own], ["frank"]
    )
