"""The measures that are compared on SummEval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared import baselines
from estime_metric.studies.benchmarks.shared.bertscore import bertscore_block
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.summeval.data import SummEval


def measure_blocks(
    settings: Mapping[str, Mapping[str, Any]],
    *,
    bert_model: str | None = None,
    progress: bool = False,
) -> list[Block]:
    """ESTIME, then the other measures. The encoder is loaded, so that a bad option is
    known before anything is computed.

    Args:
        settings: options of `EstimeConfig` for each setting of ESTIME: under ``""`` the first, under
            what differs in it a second one, see `second_setting`.
        bert_model: encoder of `BertScorer`; ``None`` omits BERTScore.
        progress: whether the scorer shows its own bar.

    Raises:
        EncoderUnavailableError, ValueError: as `EstimeScorer`.
    """

    def references(data: SummEval) -> Sequence[Sequence[str]]:
        return list(data.table["references"])

    bertscore = []
    if bert_model is not None:
        bertscore.append(bertscore_block(bert_model, references, device=settings[""].get("device")))
    return [
        *(
            estime_block(EstimeScorer(**options), setting=setting, progress=progress)
            for setting, options in settings.items()
        ),
        baselines.divergence_block(),
        *bertscore,
        baselines.bleu_block(references),
        baselines.rouge_block(references),
        baselines.trivial_block(),
    ]
