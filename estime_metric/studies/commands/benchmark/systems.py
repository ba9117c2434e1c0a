"""``estime benchmark systems``: how often people agree with the verdict on two systems."""

from __future__ import annotations

from pathlib import Path

from estime_metric.studies.commands.benchmark import shared

SHOWN = ("systems", "systems-order", "systems-rules")  # on the screen; the others are for files


def systems(
    folder: Path,
    /,
    *,
    given: shared.RunOptions = shared.RUN,
    others: shared.OtherMeasures = shared.OTHERS,
    measure: shared.EveryMeasure = shared.MEASURE,
) -> int:
    """Count how often people agree with the verdict of 'estime compare' on two systems.

    Prints, for each measure and for each rule that combines two measures, how many declared winners
    people judge as more consistent, how many pairs of systems have people's order, and Kendall's tau.
    With --output, also writes verdicts with Holm's correction, tidy tables with intervals, and a
    plot. Files of --scores name documents FOLDER/ID.

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark systems DATA -o results

    Args:
        folder: Folder with some of the folders summeval, frank and cliff.
    """
    given.make_folder()
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.systems.data import read
    from estime_metric.studies.benchmarks.systems.study import SystemsStudy

    data = read(folder)
    own = others.blocks(measure.device)
    scorer = EstimeScorer(**measure.given())
    study = SystemsStudy(scorer, progress=not given.quiet)
    return given.run(study, data, [*study.blocks(data), *own], SHOWN)
