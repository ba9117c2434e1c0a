"""The measures that are compared on SummEval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared import baselines
from estime_metric.studies.benchmarks.shared.bertscore import bertscore_block
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.summeval.data import SummEval


def measure_blocks(
    scorers: Mapping[str, EstimeScorer],
    *,
    bert_model: str | None = None,
    device: str | None = None,
    progress: bool = False,
) -> list[Block]:
    """ESTIME, then the other measures.

    Args:
        scorers: ESTIME in each setting: under ``""`` the first, under what differs in it a second one.
        bert_model: encoder of `BertScorer`, which runs on ``device``; ``None`` omits BERTScore.
        progress: whether the scorer shows its own bar.
    """

    def references(data: SummEval) -> Sequence[Sequence[str]]:
        return list(data.table["references"])

    return [
        *(
            estime_block(scorer, setting=setting, progress=progress)
            for setting, scorer in scorers.items()
        ),
        baselines.divergence_block(),
        *([] if bert_model is None else [bertscore_block(bert_model, references, device=device)]),
        baselines.bleu_block(references),
        baselines.rouge_block(references),
        baselines.trivial_block(),
    ]
