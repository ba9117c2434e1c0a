"""``estime benchmark summeval``: Tables 1 and 2 of the paper, computed again."""

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
NONE = "none"  # in place of an encoder: without BERTScore


def summeval(
    *,
    data: Annotated[Path | None, Parameter(alias="-d")] = None,
    dataset: str | None = None,
    limit: options.PositiveCount | None = None,
    references: str = "mean",
    bertscore_model: str | None = None,
    bertscore_layer: int | None = None,
    given: shared.RunOptions = shared.RUN,
    others: shared.OtherMeasures = shared.OTHERS,
    measure: options.MeasureOptions = options.MEASURE,
) -> int:
    """Correlate ESTIME and other measures with the experts of SummEval: the paper's Tables 1 and 2.

    --unit token,word computes both units. Rows marked 'here' are computed in this run, 'paper' rows
    are published values, and 'file' rows come from --scores.

    Exit status: 0 if all measures were computed, 1 if some failed (the others are reported), 2 on
    failure.

    Example: estime benchmark summeval --data SUMMEVAL -m embedded --distance 2

    Args:
        data: Folder with documents.jsonl, references.jsonl, summeval.jsonl. (default: the Hub)
        dataset: Name on the Hub, or a folder of that layout. (default: mteb/summeval)
        limit: Use only the first N documents.
        references: How to combine scores over several references: mean (reproduces the paper's
            ROUGE), max or first.
        bertscore_model: Encoder for BERTScore, or 'none'. (default: roberta-large, as in the paper;
            with a bundled encoder, the same one as --model)
        bertscore_layer: Layer of the BERTScore encoder. (default: 17 of 24 blocks, or the same
            relative depth in other encoders)
    """
    if data is not None and dataset is not None:
        raise ValueError("Give --data or --dataset, not both.")
    given.make_folder()
    config = measure.given()
    units = options.parse_names(config.pop("unit", "token")) or ()  # computed one after the other
    from estime_metric.studies.benchmarks.shared.bertscore import PAPER_ENCODER
    from estime_metric.studies.benchmarks.summeval.data import read
    from estime_metric.studies.benchmarks.summeval.study import SummEvalStudy  # imports torch: slow

    found = read(data, dataset, limit)
    if bertscore_model is None:
        bertscore_model = measure.model if measure.model in embedded.PATHS else PAPER_ENCODER
    study = SummEvalStudy(
        config,
        units,
        combine=references,
        bert_model=None if bertscore_model == NONE else bertscore_model,
        bert_layer=bertscore_layer,
        progress=not given.quiet,
    )
    return given.run(study, found, [*study.blocks(found), *others.blocks(measure.device)], SHOWN)
