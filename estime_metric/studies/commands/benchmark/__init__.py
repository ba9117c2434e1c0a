"""``estime benchmark ...``: the papers' experiments and benchmarks on human judgements."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from estime_metric import embedded
from estime_metric.cli import options
from estime_metric.cli.console import make_app, say_wrote
from estime_metric.config import EMBEDDED_MODEL
from estime_metric.studies.commands.benchmark.shared import (
    COMMON,
    OTHERS,
    RUN,
    BenchmarkOptions,
    OtherMeasures,
    RunOptions,
    print_tables,
)
from estime_metric.studies.commands.benchmark.subtle_errors import subtle_errors

NONE = "none"  # in place of an encoder: without BERTScore

app = make_app(
    "benchmark", "Reproduce the papers' experiments and run benchmarks on human judgements."
)


@app.command
def bump(
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
    against the nearest of them. With --output, also writes tidy
    tables, with areas under the ROC curve by type. Files of --scores name the columns pair and version (reference, edited).

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark bump BUMP -o results

    Args:
        folder: A copy of the authors' repository, dataminr-ai/BUMP, or its folder data.
        task: 1, with an error of each type in each summary, or 2, with errors of free choice.
        split: Articles: valid (the 50 for making choices), test (the others) or all.
        limit: Use only the first articles.
    """
    return common.run("bump", folder, task=task, split=split, limit=limit)


@app.command
def summedits(
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

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark summedits SUMMEDITS

    Args:
        folder: A copy of the authors' repository, salesforce/factualNLG, or a folder with files
            summedits_DOMAIN.json.
        limit: Use only the first documents of each domain.
    """
    return common.run("summedits", folder, limit=limit)


@app.command
def aggrefact(
    folder: Path,
    /,
    *,
    words: bool = False,
    split: str = "test",
    common: BenchmarkOptions = COMMON,
) -> int:
    """Detect inconsistent summaries: AggreFact, Tang et al. 2023.

    For each dataset and system class, chooses a threshold on val and reports the balanced accuracy
    on test, next to five published detectors. With --output, also writes areas under the ROC curve,
    intervals and thresholds. Files of --scores name documents DATASET/ID.

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark aggrefact AGGREFACT

    Args:
        folder: A copy of the authors' repository, Liyan06/AggreFact, or a folder with the folders
            cliff and frank.
        words: Evaluate individual words instead of summaries: compare alarms and absent words with
            the words that annotators marked.
        split: Split of CLIFF for --words: val for making choices, test for reporting.
    """
    return _compare_words(folder, split, common) if words else common.run("aggrefact", folder)


def _compare_words(folder: Path, split: str, common: BenchmarkOptions) -> int:
    results = common.results
    results.make_folder()
    from estime_metric.report.tables import write_table
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.aggrefact import data, tables, words

    of_cliff = data.with_spans(data.of_split(data.read(folder), split))
    scorer = EstimeScorer(**common.measure.settings())
    explained = scorer.explain_pairs(
        of_cliff.summaries, of_cliff.sources, progress=not results.quiet
    )
    table = of_cliff.table
    judged = words.judged_words(explained, list(table["spans"]))
    parts = words.parts(judged, list(table["origin"]), list(table["label"]))
    made = tables.make_word_tables(parts, split, explained[0].signature)
    print_tables(made)
    if results.output is not None:
        paths = [path for each in made for path in write_table(each, results.output)]
        say_wrote(", ".join(path.name for path in paths), results.output)
    return 0


@app.command
def frank(
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

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark frank FRANK -o results

    Args:
        folder: Folder with documents.jsonl and frank.jsonl, or a copy of the authors' repository,
            artidoro/frank.
        split: Split of the benchmark: valid for making choices, test for reporting.
        limit: Use only the first documents of CNN/DailyMail and of XSum.
    """
    return common.run("frank", folder, split=split, limit=limit)


@app.command
def summeval(
    *,
    data: Annotated[Path | None, Parameter(alias="-d")] = None,
    limit: options.PositiveCount | None = None,
    bertscore_model: str | None = None,
    run: RunOptions = RUN,
    others: OtherMeasures = OTHERS,
    measure: options.MeasureOptions = options.MEASURE,
) -> int:
    """Correlate ESTIME and other measures with the experts of SummEval: the paper's Tables 1 and 2.

    --unit token,word computes both units. Rows marked 'here' are computed in this run, 'paper' rows
    are published values, and 'file' rows come from --scores.

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark summeval --data SUMMEVAL

    Args:
        data: Folder with documents.jsonl, references.jsonl, summeval.jsonl. (default: mteb/summeval
            on the Hub)
        limit: Use only the first N documents.
        bertscore_model: Encoder for BERTScore, or 'none'. (default: --model if it is a bundled
            encoder, otherwise roberta-large, as in the paper)
    """
    run.make_folder()
    config = measure.settings()
    units = options.parse_names(config.pop("unit", "token")) or ()  # computed one after the other
    from estime_metric.studies.benchmarks.shared.bertscore import PAPER_ENCODER
    from estime_metric.studies.benchmarks.summeval import BENCHMARK  # imports torch: slow
    from estime_metric.studies.benchmarks.summeval.measures import measure_blocks

    summaries = BENCHMARK.read(data, limit)
    if bertscore_model is None:
        model = measure.model or EMBEDDED_MODEL
        bertscore_model = model if model in embedded.PATHS else PAPER_ENCODER
    blocks = measure_blocks(
        config,
        units=units,
        bert_model=None if bertscore_model == NONE else bertscore_model,
        progress=not run.quiet,
    )
    return run.run(BENCHMARK, summaries, [*blocks, *others.blocks(measure.device)])


@app.command
def systems(folder: Path, /, *, common: BenchmarkOptions = COMMON) -> int:
    """Count how often people agree with the verdict of 'estime compare' on two systems.

    Prints, for each measure and for each rule that combines two measures, how many declared winners
    people judge as more consistent, how many pairs of systems have people's order, and Kendall's tau.
    With --output, also writes verdicts with Holm's correction and tidy tables with intervals.
    Files of --scores name documents FOLDER/ID.

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark systems DATA -o results

    Args:
        folder: Folder with some of the folders summeval, frank and cliff.
    """
    return common.run("systems", folder, measures=())


app.command(subtle_errors)


@app.command
def coherence(folder: Path, /, *, runs: options.Count = 100, run: RunOptions = RUN) -> int:
    """Recompute the tables of Steen & Markert 2022 and print them next to the published values.

    Prints Tables 3 and 4. With --output, also writes the intervals of Table 3, Tables 1 and 5, and
    plots.

    Exit status: 0 on success, 1 if plots could not be drawn (the rest is written), 2 on failure.

    Example: estime benchmark coherence DATA -o results

    Args:
        folder: Folder with summeval/, coherence_scores/ and shuffle/.
        runs: Runs of the confounders with noise; 0 leaves Table 1 out.
    """
    run.make_folder()
    from estime_metric.studies.benchmarks.coherence_scores import benchmark, published_scores

    written = run.output is not None
    chosen = benchmark(runs if written else 0, intervals=written)
    data = chosen.read(folder)
    return run.run(chosen, data, [published_scores(data)])
