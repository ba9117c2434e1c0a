"""``estime benchmark summedits``: edits by a language model, next to published models and people."""

from __future__ import annotations

from pathlib import Path

from estime_metric.cli import options
from estime_metric.measures import FURTHER_MEASURES
from estime_metric.studies.commands.benchmark import shared


def summedits(
    folder: Path,
    /,
    *,
    limit: options.PositiveCount | None = None,
    given: shared.RunOptions = shared.RUN,
    others: shared.OtherMeasures = shared.OTHERS,
    measure: shared.EveryMeasure = shared.MEASURE,
) -> int:
    """Detect inconsistent edits of summaries by a language model: SummEdits, Laban et al. 2023.

    Prints balanced accuracies by domain, with a threshold from the other documents of the domain,
    next to 19 published models and people, and areas under the ROC curve. Files of --scores name
    the columns domain and id.

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark summedits SUMMEDITS -m embedded --distance 2

    Args:
        folder: A copy of the authors' repository, salesforce/factualNLG, or a folder with files
            summedits_DOMAIN.json.
        limit: Use only the first documents of each domain.
    """
    given.make_folder()
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.summedits.data import read
    from estime_metric.studies.benchmarks.summedits.study import SummEditsStudy

    data = read(folder, limit)
    own = others.blocks(measure.device)
    scorer = EstimeScorer(measures=FURTHER_MEASURES, **measure.given())
    study = SummEditsStudy(scorer, progress=not given.quiet)
    return given.run(study, data, [*study.blocks(data), *own])
