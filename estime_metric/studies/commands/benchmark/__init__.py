"""``estime benchmark ...``: the papers' experiments. Benchmarks of others are in ``experiments/benchmarks`` of a
clone.
"""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from estime_metric.cli import options
from estime_metric.cli.console import make_app
from estime_metric.studies.commands.benchmark.running import (
    OWN,
    RUN,
    Compare,
    OwnScores,
    RunOptions,
    scorers_of,
)
from estime_metric.studies.commands.benchmark.subtle_errors import subtle_errors

NONE = "none"  # in place of an encoder: without BERTScore
RUNS = 100  # of the confounders with noise, as in the paper

app = make_app(
    "benchmark",
    "Reproduce the papers' experiments. Benchmarks of others (BUMP, FRANK, AggreFact, SummEdits, RAGTruth) "
    "run from a clone: python -m experiments.benchmarks.",
)


@app.command
def summeval(
    *,
    data: Annotated[Path | None, Parameter(alias="-d")] = None,
    limit: options.PositiveCount | None = None,
    bertscore_model: str | None = None,
    compare: Compare = None,
    run: RunOptions = RUN,
    others: OwnScores = OWN,
    measure: options.MeasureOptions = options.MEASURE,
) -> int:
    """Correlate ESTIME and other measures with the experts of SummEval: the paper's Tables 1 and 2.

    Columns called 'paper' are published values; [FILE] after a measure's name says that it comes from
    --scores. Documents are called as in the data (doc_id, such as dm-test-8764...), systems M0 to M23
    or by their names (LEAD-3, BART ...). With --layers all, plots have the curves of appendix A; with
    --compare (C to F) or another measure in --measures (winners: B), also thin ones to compare with.

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
    from estime_metric.engine.encoder.folder import is_bundled  # imports torch: slow
    from estime_metric.studies.benchmarks import summeval
    from estime_metric.studies.benchmarks.shared.bertscore import PAPER_ENCODER
    from estime_metric.studies.benchmarks.summeval.measures import measure_blocks

    scorers = scorers_of(config, compare)
    if bertscore_model is None:
        model = scorers[""].config.model
        bertscore_model = model if is_bundled(model) else PAPER_ENCODER
    blocks = measure_blocks(
        scorers,
        bert_model=None if bertscore_model == NONE else bertscore_model,
        device=measure.device,
        progress=not run.quiet,
    )
    added = others.blocks()
    return run.run(summeval.BENCHMARK, summeval.read(data, limit), [*blocks, *added])


app.command(subtle_errors)


@app.command
def coherence(
    folder: Path,
    /,
    *,
    runs: options.Count | None = None,
    run: RunOptions = RUN,
    others: OwnScores = OWN,
) -> int:
    """Recompute the tables of Steen & Markert 2022 and print them next to the published values.

    Prints Tables 3 and 4, and Table 1 with --runs or --scores. With --output, also writes the
    intervals of Table 3, Tables 1, 5 and 6, the agreement of the annotators, and plots. The measures
    of --scores have rows in Tables 1 and 3, bias matrices and a plot of their agreement within each
    system. Documents and systems are called as in DATA (doc_id, M0 to M23) or systems by their names
    (LEAD-3, BART ...).

    Exit status: 0 on success, 1 if plots could not be drawn (the rest is written), 2 on failure.

    Example: estime benchmark coherence DATA -o results-coherence

    Args:
        folder: Folder with summeval/, coherence_scores/ and shuffle/.
        runs: Runs of the confounders with noise; 0 omits Table 1. (default: 100 if Table 1 is
            printed or written)
    """
    run.make_folder()
    from estime_metric.studies.benchmarks.coherence_scores import benchmark, published_scores, read

    added = others.blocks()
    written = run.output is not None
    shows_confounders = bool(added) if runs is None else runs > 0
    if runs is None:
        runs = RUNS if written or added else 0
    chosen = benchmark(runs, intervals=written, shows_confounders=shows_confounders)
    data = read(folder)
    return run.run(chosen, data, [published_scores(data), *added])
