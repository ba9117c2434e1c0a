"""The whole study: data, scores, correlations, tables, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from estime_metric.scorer import EstimeScorer
from estime_metric.studies.frank import analysis, plots, report
from estime_metric.studies.frank.analysis import Analysis
from estime_metric.studies.frank.data import Frank
from estime_metric.studies.shared import baselines
from estime_metric.studies.shared.baselines import Advance
from estime_metric.studies.shared.estime_block import estime_block
from estime_metric.studies.shared.scoring import TRIVIAL, Block, Columns, Measure, Prepared, Scores, measure
from estime_metric.studies.shared.writing import write_study
from estime_metric.tables import Table

#: Tidy tables among the files.
CORRELATIONS, DIFFERENCES, ABLATION = "correlations.csv", "differences.csv", "ablation.csv"


@dataclass(frozen=True, eq=False)
class Study:
    """What was found.

    Attributes:
        scores: of every summary, the published metrics' among them.
        analysis: correlations, differences, ablation.
        tables: by name, see `report.tables`.
    """

    scores: Scores[Frank]
    analysis: Analysis
    tables: Mapping[str, Table]


def blocks(scorer: EstimeScorer, data: Frank, *, progress: bool = False) -> list[Block]:
    """ESTIME with every measure that the scorer computes, words and lengths, and the published metrics of the data.

    Args:
        scorer: with its configuration, ``measures`` being all of them, as `FURTHER_MEASURES`.
        data: names the published metrics.
        progress: the scorer's own bar.

    Raises:
        EncoderUnavailableError, ValueError: as `EstimeScorer`.
    """
    published = {name: Measure(f"published:{name}", name, report.PUBLISHED) for name in data.metrics}

    def trivial(found: Frank, _: Advance) -> Columns:
        return {
            "absent_words": baselines.absent_words(found.summaries, found.source_of_each),
            "length": baselines.length(found.summaries),
        }

    return [
        estime_block(scorer, every_measure=True, progress=progress),
        Block(
            "Trivial",
            (
                Measure("absent_words", "(-)absent words", TRIVIAL, lower_is_better=True),
                Measure("length", "(-)length", TRIVIAL, lower_is_better=True),
            ),
            lambda: Prepared("TRIVIAL|words:lower-case", trivial),
        ),
        Block(
            "Published metrics",
            tuple(published.values()),
            lambda: Prepared(
                f"FRANK|{data.origin}|{data.digest}",
                lambda found, _: {one.column: found.metrics[name] for name, one in published.items()},
            ),
        ),
    ]


def run(
    data: Frank,
    blocks: Sequence[Block],
    *,
    folder: Path | None = None,
    resume: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool = False,
) -> Study:
    """Measures, correlates, and makes the tables.

    Args:
        data: what is scored.
        blocks: the measures, see `blocks` and `own_scores.own_blocks`.
        folder: scores, correlations, tables and plots are written there; without matplotlib no plots, which
            ``Scores.problems`` says.
        resume: scores in ``folder`` that were made of the same data with the same signature are taken from there.
        resamples, seed: as `analysis.correlations`.
        progress: bars on stderr.

    Raises:
        OSError, ValueError: as `scoring.measure`.
    """
    scores = measure(data, blocks, folder=folder, resume=resume, progress=progress)
    with tqdm(total=2 * len(scores.values), desc="intervals", unit="measure", disable=not progress) as bar:
        found = analysis.correlations(scores, resamples=resamples, seed=seed, advance=bar.update)
        flipped = analysis.ablation(scores, resamples=resamples, seed=seed, advance=bar.update)
    result = Analysis(found, analysis.differences(scores, found), flipped)
    tables = report.tables(scores, result)
    if folder is not None:
        frames = {CORRELATIONS: found, DIFFERENCES: result.differences, ABLATION: flipped}
        scores.problems |= write_study(folder, frames, tables.values(), lambda: plots.draw(result).items())
    return Study(scores, result, tables)
