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
    options: Mapping[str, Any],
    *,
    units: Sequence[str] = ("token",),
    bert_model: str | None = None,
    progress: bool = False,
) -> list[Block]:
    """ESTIME with each unit, then the other measures. The encoder is loaded, so that a bad option is
    known before anything is computed.

    Args:
        options: options of `EstimeConfig` except ``unit``.
        units: some of ``token`` and ``word``, each once.
        bert_model: encoder of `BertScorer`; ``None`` omits BERTScore.
        progress: whether the scorer shows its own bar.

    Raises:
        EncoderUnavailableError, ValueError: as `EstimeScorer`, and ValueError for ``units``.
    """
    if not units or len(set(units)) < len(units):
        raise ValueError(
            f"Expected argument `units` to name each unit once, but got {', '.join(units) or 'none'}."
        )

    def references(data: SummEval) -> Sequence[Sequence[str]]:
        return list(data.table["references"])

    bertscore = []
    if bert_model is not None:
        bertscore.append(bertscore_block(bert_model, references, device=options.get("device")))
    return [
        *(
            estime_block(EstimeScorer(**_with_unit(options, unit)), progress=progress)
            for unit in units
        ),
        baselines.divergence_block(),
        *bertscore,
        baselines.bleu_block(references),
        baselines.rouge_block(references),
        baselines.trivial_block(),
    ]


def _with_unit(options: Mapping[str, Any], unit: str) -> dict[str, Any]:
    chosen = {**options, "unit": unit}
    if unit == "token" and options.get("tagger") is None:
        chosen.pop("splitter", None)  # it splits nothing
    return chosen
