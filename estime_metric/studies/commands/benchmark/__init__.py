"""``estime benchmark ...``: the papers' experiments and benchmarks on human judgements."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from estime_metric import embedded
from estime_metric.cli import options
from estime_metric.cli.console import make_app, say_wrote
from estime_metric.config import EMBEDDED_MODEL
from estime_metric.studies.commands.benchmark.shared import (
    MEASURE,
    OTHERS,
    RUN,
    EveryMeasure,
    OtherMeasures,
    RunOptions,
    print_tables,
    run_standard,
)
from estime_metric.studies.commands.benchmark.subtle_errors import subtle_errors

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer
    from estime_metric.studies.benchmarks.aggrefact.data import AggreFact

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
    run: RunOptions = RUN,
    others: OtherMeasures = OTHERS,
    measure: EveryMeasure = MEASURE,
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
    shown = ("bump", "bump-types", "bump-tests")
    arguments = ("bump", folder, task, split, limit)
    return run_standard(*arguments, run=run, others=others, measure=measure, shown=shown)


@app.command
def summedits(
    folder: Path,
    /,
    *,
    limit: options.PositiveCount | None = None,
    run: RunOptions = RUN,
    others: OtherMeasures = OTHERS,
    measure: EveryMeasure = MEASURE,
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
    return run_standard("summedits", folder, limit, run=run, others=others, measure=measure)


@app.command
def aggrefact(
    folder: Path,
    /,
    *,
    words: bool = False,
    split: str = "test",
    run: RunOptions = RUN,
    others: OtherMeasures = OTHERS,
    measure: EveryMeasure = MEASURE,
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
    if not words:
        shown = ["aggrefact"]
        return run_standard(
            "aggrefact", folder, run=run, others=others, measure=measure, shown=shown
        )
    run.make_folder()
    from estime_metric.scorer import EstimeScorer  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.aggrefact.data import of_split, read, with_spans

    of_cliff = with_spans(of_split(read(folder), split))
    _compare_words(of_cliff, split, EstimeScorer(**measure.settings()), run)
    return 0


def _compare_words(data: "AggreFact", split: str, scorer: "EstimeScorer", run: RunOptions) -> None:
    from estime_metric.report.tables import write_table
    from estime_metric.studies.benchmarks.aggrefact import tables, words

    explained = scorer.explain_pairs(data.summaries, data.sources, progress=not run.quiet)
    judged = words.judged_words(explained, list(data.table["spans"]))
    parts = words.parts(judged, list(data.table["origin"]), list(data.table["label"]))
    made = tables.make_word_tables(parts, split, explained[0].signature)
    print_tables(made)
    if run.output is not None:
        paths = [path for table in made for path in write_table(table, run.output)]
        say_wrote(", ".join(path.name for path in paths), run.output)


@app.command
def frank(
    folder: Path,
    /,
    *,
    split: str = "test",
    limit: options.PositiveCount | None = None,
    run: RunOptions = RUN,
    others: OtherMeasures = OTHERS,
    measure: EveryMeasure = MEASURE,
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
    arguments = ("frank", folder, split, limit)
    return run_standard(*arguments, run=run, others=others, measure=measure, shown=["frank"])


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
    from estime_metric.studies.benchmarks.summeval.data import read
    from estime_metric.studies.benchmarks.summeval.measures import measure_blocks

    summaries = read(data, limit)
    if bertscore_model is None:
        model = measure.model or EMBEDDED_MODEL
        bertscore_model = model if model in embedded.PATHS else PAPER_ENCODER
    blocks = measure_blocks(
        config,
        units=units,
        bert_model=None if bertscore_model == NONE else bertscore_model,
        progress=not run.quiet,
    )
    shown = ("table1", "table2", "own", "layers")
    return run.run(BENCHMARK, summaries, [*blocks, *others.blocks(measure.device)], shown)


@app.command
def systems(
    folder: Path,
    /,
    *,
    run: RunOptions = RUN,
    others: OtherMeasures = OTHERS,
    measure: EveryMeasure = MEASURE,
) -> int:
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
    shown = ("systems", "systems-order", "systems-rules")
    return run_standard(
        "systems", folder, run=run, others=others, measure=measure, shown=shown, measures=()
    )


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
    from estime_metric.studies.benchmarks.coherence_scores.data import read

    data, written = read(folder), run.output is not None
    chosen = benchmark(runs if written else 0, intervals=written)
    return run.run(chosen, data, [published_scores(data)], ("table3", "table4"))
