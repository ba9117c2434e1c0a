"""``estime benchmark aggrefact``: consistent summaries told from others, beside published
detectors; word by word.
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
    given: shared.RunOptions = shared.RunOptions(),
    others: shared.OtherMeasures = shared.OtherMeasures(),
    measure: shared.EveryMeasure = shared.EveryMeasure(),
) -> int:
    """Tell consistent summaries from others: AggreFact, Tang et al. 2023.

    A threshold is chosen on val for each data set and class of systems, balanced accuracy is that
    on test, beside five published detectors. With --output there are also areas under the ROC
    curve, intervals and thresholds. Files of --scores name documents DATASET/ID.

    Exit status: 0, all was measured; 1, some measures could not be, the rest is there; 2, nothing
    was measured.

    Args:
        folder: The authors' repository, Liyan06/AggreFact, or a folder that holds cliff and frank.
        words: Word by word instead: alarms and absent words beside those that annotators marked.
        split: Half of CLIFF for --words: val to choose by, test to report.
    """
    given.make_folder()
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.aggrefact import data, study

    found = data.read(folder)
    if words:
        half = data.with_spans(data.of_split(found, split))
        return _words(half, split, EstimeScorer(**measure.given()), given)
    own = others.blocks(measure.device)
    scorer = EstimeScorer(measures=FURTHER_MEASURES, **measure.given())
    return given.run(
        study, found, [*study.blocks(scorer, found, progress=not given.quiet), *own], ["aggrefact"]
    )


def _words(half: AggreFact, split: str, scorer: EstimeScorer, given: shared.RunOptions) -> int:
    from estime_metric.comparison.plots.style import save
    from estime_metric.comparison.tables import write_table
    from estime_metric.studies.benchmarks.aggrefact import words

    explained = scorer.explain_pairs(
        list(half.summaries), half.source_of_each, progress=not given.quiet
    )
    judged = words.judged_words(explained, list(half.table["spans"]))
    found = words.parts(judged, list(half.table["origin"]), list(half.table["label"]))
    tables = words.tables(found, split, explained[0].signature)
    shared.print_tables(tables)
    if given.output is not None:
        paths = [path for table in tables for path in write_table(table, given.output)]
        paths += save(words.draw(found), given.output / "words-curve")
        say_wrote(", ".join(path.name for path in paths), given.output)
    return 0
