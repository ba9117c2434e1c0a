"""``estime benchmark subtle-errors``: section 4 of the paper, measured again."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from estime_metric import embedded, files
from estime_metric.cli import options
from estime_metric.cli.console import say, warn
from estime_metric.config import EMBEDDED_SMALL_MODEL
from estime_metric.measures import HIGHER_IS_BETTER
from estime_metric.studies.commands.benchmark import shared
from estime_metric.studies.commands.corrupt import Errors, Order, parse_numbers

PAPER_LAYERS = "21,12,24"  # layers of the paper's encoder; the first one's alarms are located
PAPER_PAIRS = 2000  # pairs that the paper took from CNN/DailyMail
CACHE_BYTES = 2_000_000_000  # bytes for the embeddings of sources between the scores and the positions of the alarms


def subtle_errors(
    file: Path | None = None,
    /,
    *,
    source_column: options.SourceColumn = "source",
    summary_column: options.SummaryColumn = "summary",
    dataset: str | None = None,
    split: str = "test",
    pairs: options.PositiveCount | None = None,
    generator: str | None = None,
    errors: Errors = "1,3,5",
    order: Order = "sequential",
    baselines: Annotated[bool, Parameter(negative="--no-baselines")] = True,
    given: shared.RunOptions = shared.RunOptions(),
    others: shared.OwnScores = shared.OwnScores(),
    measure: shared.EveryMeasure = shared.EveryMeasure(),
) -> int:
    """Put subtle errors into clean summaries and see which measures notice: Table 3 of the paper
    and more.

    Printed as Markdown: correlations with clean = 1 and corrupted = 0 beside the paper's, the rise
    of alarms with the number of errors, and whether alarms fall on the errors. Of several layers
    the first one's alarms are located. The files of --scores name each version as pairs.jsonl and
    scores.csv of --output do, by pair and n_errors.

    Exit status: 0, all was measured; 1, some rows are invalid or some measures failed, the rest is
    there; 2, nothing was measured.

    Args:
        file: JSON Lines, CSV or Parquet with a source and a clean summary in each row, or the
            folder of SummEval, whose documents and first references are taken. (default:
            CNN/DailyMail from the Hub)
        dataset: Another data set of its layout, on the Hub or local.
        split: Split of the data set.
        pairs: Random pairs to take. (default: 2000 of CNN/DailyMail, else all)
        generator: Model that makes the errors. (default: bert-base-cased, the paper's;
            embedded-small with an encoder of the package)
        baselines: Compare with measures that need no model.
    """
    if file is not None and dataset is not None:
        raise ValueError("Give a FILE or --dataset, not both.")
    config = measure.given()
    if measure.layers is None and measure.model is None:
        config["layers"] = options.parse_layers(PAPER_LAYERS)
    numbers = parse_numbers(errors)
    given.make_folder()
    found = _read(file, source_column, summary_column, dataset, split, pairs, given.seed)
    for problem in found.problems:
        warn(f"skipped {problem}")
    if not found.sources:
        raise ValueError("There is no pair to measure.")
    from estime_metric.comparison.tables import to_markdown
    from estime_metric.scorer import EstimeScorer  # imports torch: slow
    from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors
    from estime_metric.studies.benchmarks.subtle_errors.dataset import labelled_rows, make_versions
    from estime_metric.studies.benchmarks.subtle_errors.generator import PAPER_GENERATOR
    from estime_metric.studies.benchmarks.subtle_errors.study import SubtleErrorsStudy

    own = others.blocks(measure.device)
    scorer = EstimeScorer(measures=tuple(HIGHER_IS_BETTER), cache=CACHE_BYTES, **config)
    study = SubtleErrorsStudy(scorer, baselines, progress=not given.quiet)
    maker = SubtleErrors(
        generator or (EMBEDDED_SMALL_MODEL if measure.model in embedded.PATHS else PAPER_GENERATOR),
        n_errors=numbers[-1],
        seed=given.seed,
        order=order,
        device=measure.device,
    )
    # A pair's name is its id, else its line.
    names = [
        str(others.get("id", line)) for line, others in zip(found.lines, found.others, strict=True)
    ]
    data = make_versions(
        found.sources,
        found.summaries,
        maker,
        numbers=numbers,
        names=names,
        progress=not given.quiet,
    )
    if given.output is not None:
        rows = labelled_rows(data.sources, data.corrupted, numbers, names)
        files.write_rows(given.output / "pairs.jsonl", rows)
    status = given.run(
        study,
        data,
        [*study.blocks(), *own],
        show=lambda tables: say("\n".join(map(to_markdown, tables))),
    )
    return 1 if found.problems else status


def _read(
    file: Path | None,
    source_column: str,
    summary_column: str,
    dataset: str | None,
    split: str,
    pairs: int | None,
    seed: int,
) -> files.Pairs:
    """The pairs asked for; ``lines`` counts them from 1 where they come from no file."""
    from estime_metric.studies.benchmarks.subtle_errors.dataset import (
        cnn_dailymail,
        summeval_references,
    )

    if file is not None and not file.is_dir():
        layout = files.Layout(source_column=source_column, summary_column=summary_column)
        found = files.read_pairs(file, layout)
    else:
        if file is not None:
            sources, summaries, ids = summeval_references(file)
        elif dataset is not None:
            sources, summaries, ids = cnn_dailymail(
                pairs, seed=seed, split=split, path=dataset, edition=None
            )
        else:
            sources, summaries, ids = cnn_dailymail(pairs or PAPER_PAIRS, seed=seed, split=split)
        found = files.Pairs(
            list(range(1, len(ids) + 1)), sources, summaries, [{"id": name} for name in ids]
        )
    if file is not None and pairs is not None and pairs < len(found.lines):
        chosen = sorted(random.Random(seed).sample(range(len(found.lines)), pairs))
        for name in ("lines", "sources", "summaries", "others"):
            setattr(found, name, [getattr(found, name)[index] for index in chosen])
    return found
