"""``estime benchmark bump``: a summary or the same with one error, next to published measures."""

from __future__ import annotations

from pathlib import Path

from estime_metric.cli import options
from estime_metric.measures import FURTHER_MEASURES
from estime_metric.studies.commands.benchmark import shared

SHOWN = ("bump", "bump-types", "bump-tests")  # tables on the screen; the others are for files


def bump(
    folder: Path,
    /,
    *,
    task: int = 1,
    split: str = "all",
    limit: options.PositiveCount | None = None,
    given: shared.RunOptions = shared.RUN,
    others: shared.OtherMeasures = shared.OTHERS,
    measure: shared.EveryMeasure = shared.MEASURE,
) -> int:
    """Choose between a summary and the same with one error: BUMP, Ma et al. 2023.

    Prints the consistency, which is the share of pairs in which the summary without the error has
    the better score, overall and by type of error, next to published measures, and paired tests
    against the nearest of them. With --output, also writes areas under the ROC curve by type, tidy
    tables and plots. Files of --scores name the columns pair and version (reference, edited).

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark bump BUMP -m embedded --distance 2 -o results

    Args:
        folder: A copy of the authors' repository, dataminr-ai/BUMP, or its folder data.
        task: 1, with an error of each type in each summary, or 2, with errors of free choice.
        split: Articles: valid (the 50 for making choices), test (the others) or all.
        limit: Use only the first articles.
    """
    given.make_folder()
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.bump.data import read
    from estime_metric.studies.benchmarks.bump.study import BumpStudy

    data = read(folder, task, split, limit)
    own = others.blocks(measure.device)
    scorer = EstimeScorer(measures=FURTHER_MEASURES, **measure.given())
    study = BumpStudy(scorer, progress=not given.quiet)
    return given.run(study, data, [*study.blocks(data), *own], SHOWN)
