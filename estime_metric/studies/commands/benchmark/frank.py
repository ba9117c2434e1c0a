"""``estime benchmark frank``: agreement with human judgements of factuality, next to published
metrics.
"""

from __future__ import annotations

from pathlib import Path

from estime_metric.cli import options
from estime_metric.measures import FURTHER_MEASURES
from estime_metric.studies.commands.benchmark import shared


def frank(
    folder: Path,
    /,
    *,
    split: str = "test",
    limit: options.PositiveCount | None = None,
    given: shared.RunOptions = shared.RUN,
    others: shared.OtherMeasures = shared.OTHERS,
    measure: shared.EveryMeasure = shared.MEASURE,
) -> int:
    """Correlate ESTIME and published metrics with judged factuality: FRANK, Pagnoni et al. 2021.

    Prints partial correlations that control for the system. With --output, also writes plain
    correlations, intervals, differences to the best with Williams' test, and the ablation by type
    of error.

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark frank FRANK -m embedded --distance 2 -o results

    Args:
        folder: Folder with documents.jsonl and frank.jsonl, or a copy of the authors' repository,
            artidoro/frank.
        split: Split of the benchmark: valid for making choices, test for reporting.
        limit: Use only the first documents of CNN/DailyMail and of XSum.
    """
    given.make_folder()
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.frank.data import read
    from estime_metric.studies.benchmarks.frank.study import FrankStudy

    data = read(folder, split, limit)
    own = others.blocks(measure.device)
    scorer = EstimeScorer(measures=FURTHER_MEASURES, **measure.given())
    study = FrankStudy(scorer, progress=not given.quiet)
    return given.run(study, data, [*study.blocks(data), *own], ["frank"])
