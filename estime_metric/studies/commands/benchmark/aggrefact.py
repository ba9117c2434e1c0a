"""``estime benchmark aggrefact``: inconsistent summaries detected, next to published detectors; word
by word.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from estime_metric.cli.console import say_wrote
from estime_metric.measures import FURTHER_MEASURES
from estime_metric.studies.commands.benchmark import shared

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer
    from estime_metric.studies.benchmarks.aggrefact.data import AggreFact


def aggrefact(
    folder: Path,
    /,
    *,
    words: bool = False,
    split: str = "test",
    given: shared.RunOptions = shared.RUN,
    others: shared.OtherMeasures = shared.OTHERS,
    measure: shared.EveryMeasure = shared.MEASURE,
) -> int:
    """Detect inconsistent summaries: AggreFact, Tang et al. 2023.

    For each dataset and system class, chooses a threshold on val and reports the balanced accuracy
    on test, next to five published detectors. With --output, also writes areas under the ROC curve,
    intervals and thresholds. Files of --scores name documents DATASET/ID.

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark aggrefact AGGREFACT -m embedded --distance 2

    Args:
        folder: A copy of the authors' repository, Liyan06/AggreFact, or a folder with the folders
            cliff and frank.
        words: Evaluate individual words instead of summaries: compare alarms and absent words with
            the words that annotators marked.
        split: Split of CLIFF for --words: val for making choices, test for reporting.
    """
    given.make_folder()
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.aggrefact.data import of_split, read, with_spans
    from estime_metric.studies.benchmarks.aggrefact.study import AggreFactStudy

    data = read(folder)
    if words:
        of_cliff = with_spans(of_split(data, split))
        return _compare_words(of_cliff, split, EstimeScorer(**measure.given()), given)
    own = others.blocks(measure.device)
    scorer = EstimeScorer(measures=FURTHER_MEASURES, **measure.given())
    study = AggreFactStudy(scorer, progress=not given.quiet)
    return given.run(study, data, [*study.blocks(data), *own], ["aggrefact"])


def _compare_words(
    data: AggreFact, split: str, scorer: EstimeScorer, given: shared.RunOptions
) -> int:
    from estime_metric.report.style import save
    from estime_metric.report.tables import write_table
    from estime_metric.studies.benchmarks.aggrefact import plots, tables, words

    explained = scorer.explain_pairs(
        list(data.summaries), data.source_of_each, progress=not given.quiet
    )
    judged = words.judged_words(explained, list(data.table["spans"]))
    parts = words.parts(judged, list(data.table["origin"]), list(data.table["label"]))
    found = tables.make_word_tables(parts, split, explained[0].signature)
    shared.print_tables(found)
    if given.output is not None:
        paths = [path for table in found for path in write_table(table, given.output)]
        paths += save(plots.draw_words(parts), given.output / "words-curve")
        say_wrote(", ".join(path.name for path in paths), given.output)
    return 0
