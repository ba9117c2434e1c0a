"""Runs benchmarks on human judgements: ``python -m experiments.benchmarks NAME DATA``, in a clone."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from estime_metric.cli import options
from estime_metric.cli.console import make_app, run
from experiments.benchmarks import aggrefact, bump, frank, limits, ragtruth, summedits, systems
from experiments.benchmarks.aggrefact.data import of_split, with_spans
from experiments.benchmarks.aggrefact.marked import make_word_tables
from experiments.benchmarks.ragtruth.marked import make_word_tables as make_ragtruth_tables
from experiments.benchmarks.running import COMMON, BenchmarkOptions

app = make_app(
    "python -m experiments.benchmarks",
    "Run benchmarks on human judgements.\n\n"
    "Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on failure.",
)


@app.command(name="bump")
def run_bump(
    folder: Path,
    /,
    *,
    task: int = 1,
    split: str = "all",
    limit: options.PositiveCount | None = None,
    common: BenchmarkOptions = COMMON,
) -> int:
    """Choose between a summary and the same with one error: BUMP, Ma et al. 2023.

    Prints the consistency, which is the share of pairs in which the summary without the error has
    the better score, overall and by type of error, next to published measures, and paired tests
    against the nearest of them. With --output, also writes tidy tables, with areas under the ROC
    curve by type. Files of --scores name the columns pair and version (reference, edited).

    Example: python -m experiments.benchmarks bump BUMP -o results

    Args:
        folder: A copy of the authors' repository, dataminr-ai/BUMP, or its folder data.
        task: 1, with an error of each type in each summary, or 2, with errors of free choice.
        split: Articles: valid (the 50 for making choices), test (the others) or all.
        limit: Use only the first articles.
    """
    return common.run(bump.BENCHMARK, folder, task=task, split=split, limit=limit)


@app.command(name="summedits")
def run_summedits(
    folder: Path,
    /,
    *,
    limit: options.PositiveCount | None = None,
    common: BenchmarkOptions = COMMON,
) -> int:
    """Detect inconsistent edits of summaries by a language model: SummEdits, Laban et al. 2023.

    Prints balanced accuracies by domain, with a threshold from the other documents of the domain,
    next to 19 published models and people, and areas under the ROC curve. Files of --scores name
    the columns domain and id.

    Example: python -m experiments.benchmarks summedits SUMMEDITS

    Args:
        folder: A copy of the authors' repository, salesforce/factualNLG, or a folder with files
            summedits_DOMAIN.json.
        limit: Use only the first documents of each domain.
    """
    return common.run(summedits.BENCHMARK, folder, limit=limit)


@app.command(name="aggrefact")
def run_aggrefact(
    folder: Path,
    /,
    *,
    word_by_word: Annotated[bool, Parameter(name="--words")] = False,
    split: str = "test",
    common: BenchmarkOptions = COMMON,
) -> int:
    """Detect inconsistent summaries: AggreFact, Tang et al. 2023.

    For each dataset and system class, chooses a threshold on val and reports the balanced accuracy
    on test, next to five published detectors. With --output, also writes areas under the ROC curve,
    intervals and thresholds. Files of --scores name documents DATASET/ID.

    Example: python -m experiments.benchmarks aggrefact AGGREFACT

    Args:
        folder: A copy of the authors' repository, Liyan06/AggreFact, or a folder with the folders
            cliff and frank.
        word_by_word: Evaluate individual words instead of summaries: compare alarms and absent words
            with the words that annotators marked.
        split: Split of CLIFF for --words: val for making choices, test for reporting.
    """
    if not word_by_word:
        return common.run(aggrefact.BENCHMARK, folder)
    cliff = with_spans(of_split(aggrefact.BENCHMARK.read(folder), split))
    return common.explain(cliff, make_word_tables)


@app.command(name="frank")
def run_frank(
    folder: Path,
    /,
    *,
    split: str = "test",
    limit: options.PositiveCount | None = None,
    common: BenchmarkOptions = COMMON,
) -> int:
    """Correlate ESTIME and published metrics with judged factuality: FRANK, Pagnoni et al. 2021.

    Prints partial correlations that control for the system. With --output, also writes plain
    correlations, intervals, differences to the best with Williams' test, and the ablation by type
    of error.

    Example: python -m experiments.benchmarks frank FRANK -o results

    Args:
        folder: Folder with documents.jsonl and frank.jsonl, or a copy of the authors' repository,
            artidoro/frank.
        split: Split of the benchmark: valid for making choices, test for reporting.
        limit: Use only the first documents of CNN/DailyMail and of XSum.
    """
    return common.run(frank.BENCHMARK, folder, split=split, limit=limit)


@app.command(name="ragtruth")
def run_ragtruth(
    folder: Path,
    /,
    *,
    word_by_word: Annotated[bool, Parameter(name="--words")] = False,
    limit: options.PositiveCount | None = None,
    common: BenchmarkOptions = COMMON,
) -> int:
    """Detect errors in summaries that language models wrote: RAGTruth, Niu et al. 2024.

    Prints areas under the ROC curve, balanced accuracies with a threshold from the other half of the
    articles, and F1 of the inconsistent summaries, next to published detectors.

    Example: python -m experiments.benchmarks ragtruth RAGTRUTH

    Args:
        folder: Folder with documents.jsonl and ragtruth.jsonl.
        word_by_word: Evaluate individual words instead of summaries: compare new names, new
            numbers, other new words and alarms with the spans that annotators marked.
        limit: Use only the first articles.
    """
    if word_by_word:
        return common.explain(ragtruth.BENCHMARK.read(folder, limit), make_ragtruth_tables)
    return common.run(ragtruth.BENCHMARK, folder, limit=limit)


@app.command(name="limits")
def run_limits(
    folder: Path,
    /,
    *,
    limit: options.PositiveCount | None = None,
    common: BenchmarkOptions = COMMON,
) -> int:
    """Measure how much scores of inconsistent summaries fall by a copied sentence, and by the removal
    of an error.

    Example: python -m experiments.benchmarks limits RAGTRUTH

    Args:
        folder: Folder of RAGTruth, with documents.jsonl and ragtruth.jsonl.
        limit: Use only the first articles.
    """
    return common.run(limits.BENCHMARK, folder, limit=limit)


@app.command(name="systems")
def run_systems(folder: Path, /, *, common: BenchmarkOptions = COMMON) -> int:
    """Count how often significant differences between two systems have the order of people's judgements.

    Prints, for each measure, how many significant differences have people's order, by how much more
    one system copies, how many pairs of systems have people's order, and Kendall's tau. With
    --output, also writes the same for parts of the documents, and tidy tables with intervals. Files
    of --scores name documents FOLDER/ID.

    Example: python -m experiments.benchmarks systems DATA -o results

    Args:
        folder: Folder with some of the folders summeval, frank and ragtruth.
    """
    return common.run(systems.BENCHMARK, folder, measures=())


if __name__ == "__main__":
    sys.exit(run(app))
