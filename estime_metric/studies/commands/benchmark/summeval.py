"""``estime benchmark summeval``: Tables 1 and 2 of the paper, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from estime_metric import embedded
from estime_metric.cli import options
from estime_metric.studies.commands.benchmark import shared

SHOWN = (
    "table1",
    "table2",
    "own",
    "layers",
)  # tables on the screen, in order; the others are for files
NONE = "none"  # what stands for "no BERTScore"


def summeval(
    *,
    data: Annotated[Path | None, Parameter(alias="-d")] = None,
    dataset: str | None = None,
    limit: options.PositiveCount | None = None,
    references: str = "mean",
    bertscore_model: str | None = None,
    bertscore_layer: int | None = None,
    given: shared.RunOptions = shared.RunOptions(),
    others: shared.OtherMeasures = shared.OtherMeasures(),
    measure: options.MeasureOptions = options.MEASURE,
) -> int:
    """Correlate ESTIME and other measures with the experts of SummEval: the paper's Tables 1 and 2.

    --unit token,word measures both units. Rows marked 'here' are measured now, 'paper' are printed
    there, 'file' come from --scores.

    Exit status: 0, all was measured; 1, some measures could not be, the rest is there; 2, nothing
    was measured.

    Args:
        data: Folder with documents.jsonl, references.jsonl, summeval.jsonl. (default: the Hub)
        dataset: Name on the Hub, or a folder of that layout. (default: mteb/summeval)
        limit: Only the first documents.
        references: Several references as one value: mean (gives the paper's ROUGE), max, first.
        bertscore_model: Encoder of BERTScore, or 'none'. (default: roberta-large, the paper's; with
            -m embedded that)
        bertscore_layer: Its layer. (default: 17 of 24 blocks, likewise of others)
    """
    if data is not None and dataset is not None:
        raise ValueError("Give --data or --dataset, not both.")
    given.make_folder()
    config = measure.given()
    units = options.parse_names(config.pop("unit", "token")) or ()  # measured one after the other
    from estime_metric.studies.benchmarks.shared.bertscore import PAPER_ENCODER
    from estime_metric.studies.benchmarks.summeval import study  # imports torch and pandas: slow
    from estime_metric.studies.benchmarks.summeval.data import read

    found = read(data, dataset, limit)
    if bertscore_model is None:
        bertscore_model = measure.model if measure.model in embedded.PATHS else PAPER_ENCODER
    blocks = study.all_blocks(
        config,
        units,
        combine=references,
        bert_model=None if bertscore_model == NONE else bertscore_model,
        bert_layer=bertscore_layer,
        progress=not given.quiet,
    )
    return given.run(study, found, [*blocks, *others.blocks(measure.device)], SHOWN)
