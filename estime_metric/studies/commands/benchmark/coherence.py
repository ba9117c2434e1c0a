"""``estime benchmark coherence``: Tables 3 and 4 of the coherence toolbox, from its published
scores.
"""

from __future__ import annotations

from pathlib import Path

from estime_metric.cli import options
from estime_metric.studies.commands.benchmark import shared

SHOWN = ("table3", "table4")  # tables on the screen; the others are for files


def coherence(
    folder: Path, /, *, runs: options.Count = 100, given: shared.RunOptions = shared.RUN
) -> int:
    """Recompute the tables of Steen & Markert 2022 and print them next to the published values.

    Prints Tables 3 and 4. With --output, also writes the intervals of Table 3, Tables 1 and 5,
    agreement with length, and plots.

    Exit status: 0 on success, 1 if plots could not be drawn (the rest is written), 2 on failure.

    Example: estime benchmark coherence DATA -o results

    Args:
        folder: Folder with summeval/, coherence_scores/ and shuffle/.
        runs: Runs of the confounders with noise; 0 leaves Table 1 out.
    """
    given.make_folder()
    from estime_metric.studies.benchmarks.coherence_scores.data import read
    from estime_metric.studies.benchmarks.coherence_scores.study import CoherenceScoresStudy

    data = read(folder)
    written = given.output is not None
    study = CoherenceScoresStudy(runs=runs if written else 0, intervals=written)
    return given.run(study, data, study.blocks(data), SHOWN)
