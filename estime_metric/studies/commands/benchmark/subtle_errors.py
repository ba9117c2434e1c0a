"""``estime benchmark subtle-errors``: section 4 of the paper, computed again."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from estime_metric.cli import options
from estime_metric.cli.console import warn_of_rows
from estime_metric.config import EMBEDDED_SMALL_MODEL, PAPER
from estime_metric.measures import FURTHER_MEASURES
from estime_metric.passages import joined
from estime_metric.studies.commands.benchmark.running import (
    MEASURE,
    OWN,
    RUN,
    Compare,
    EveryMeasure,
    OwnScores,
    RunOptions,
    scorers_of,
)
from estime_metric.studies.commands.corrupt import Errors, parse_numbers
from estime_metric.table.pairs import read_pairs, valid_lines
from estime_metric.table.rows import Layout
from estime_metric.table.table import write

if TYPE_CHECKING:
    import pandas as pd

PAPER_LAYERS = "21,12,24"  # layers of the paper's encoder
PAPER_PAIRS = 2000  # pairs that the paper took from CNN/DailyMail


def subtle_errors(
    file: Path | None = None,
    /,
    *,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    pairs: options.PositiveCount | None = None,
    generator: str | None = None,
    errors: Errors = "1,3,5",
    compare: Compare = None,
    run: RunOptions = RUN,
    others: OwnScores = OWN,
    measure: EveryMeasure = MEASURE,
) -> int:
    """Insert subtle errors into clean summaries and test which measures detect them (Table 3 of the
    paper).

    Prints correlations with clean = 1 and corrupted = 0 next to the paper's. With
    --compare, each measure of the second setting is compared with the same measure of the first. The
    files of --scores name each version as pairs.jsonl and scores.csv of --output do, by pair (the id
    of the row, or its line) and n_errors.

    Exit status: 0 if all measures were computed, 1 if some rows are invalid or some measures failed
    (the others are reported), 2 on failure.

    Example: estime benchmark subtle-errors corrupted.jsonl

    Args:
        file: JSON Lines, CSV or Parquet with a source and a clean summary in each row, or the
            folder of SummEval, from which the documents and the first references are used.
            (default: CNN/DailyMail from the Hub)
        pairs: Number of random pairs. (default: 2000 of CNN/DailyMail, otherwise all)
        generator: Model that generates the errors. (default: embedded-small if --model is a bundled
            encoder, otherwise bert-base-cased, as in the paper)
    """
    config = measure.settings()
    if measure.layers is None and measure.model == PAPER:
        config["layers"] = options.parse_layers(PAPER_LAYERS)
    numbers = parse_numbers(errors)
    run.make_folder()
    layout = Layout(source_column=source_column, summary_column=summary_column)
    clean, problems = _read(file, layout, pairs, run.seed)
    warn_of_rows(problems)
    if not len(clean):
        raise ValueError("Expected at least one pair, but got none.")
    from estime_metric.engine.encoder.folder import is_bundled  # imports torch: slow
    from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors, experiment
    from estime_metric.studies.benchmarks.subtle_errors.data import make_versions
    from estime_metric.studies.benchmarks.subtle_errors.generator import PAPER_GENERATOR
    from estime_metric.studies.benchmarks.subtle_errors.labeled import labeled_rows

    added = others.blocks()
    scorers = scorers_of({"measures": FURTHER_MEASURES, **config}, compare, FURTHER_MEASURES)
    model = scorers[""].config.model
    default_generator = EMBEDDED_SMALL_MODEL if is_bundled(model) else PAPER_GENERATOR
    maker = SubtleErrors(
        generator or default_generator,
        n_errors=numbers[-1],
        seed=run.seed,
        device=measure.device,
    )
    progress = not run.quiet
    data = make_versions(clean, maker, numbers=numbers, progress=progress)
    if run.output is not None:
        rows = labeled_rows(list(clean["source"]), data.corrupted, numbers, list(clean["document"]))
        write(run.output / "pairs.jsonl", rows)
    blocks = experiment.measure_blocks(scorers, progress=progress)
    status = run.run(experiment.BENCHMARK, data, [*blocks, *added])
    return 1 if problems else status


def _read(
    file: Path | None, layout: Layout, pairs: int | None, seed: int
) -> tuple[pd.DataFrame, list[str]]:
    """The requested pairs by name, ``document``, and the rows that cannot be read."""
    import pandas as pd

    from estime_metric.compare.join import id_of
    from estime_metric.studies.benchmarks.subtle_errors.data import (
        cnn_dailymail,
        summeval_references,
    )

    if file is None:
        return cnn_dailymail(pairs or PAPER_PAIRS, seed=seed), []
    problems: list[str] = []
    if file.is_dir():
        clean = summeval_references(file)
    else:
        lines = valid_lines(read_pairs(file, layout), problems)
        clean = pd.DataFrame(
            {
                # A pair's name is its id, otherwise its line.
                "document": id_of(line.row.get("id")) or str(line.number),
                "source": joined(line.source),
                "summary": line.summary,
            }
            for line in lines
        )
    if pairs is not None and pairs < len(clean):
        clean = clean.iloc[sorted(random.Random(seed).sample(range(len(clean)), pairs))]
    return clean, problems
