"""ESTIME as ``compute_metrics`` of the ``Seq2SeqTrainer`` of transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from estime_metric.checks import check_sources
from estime_metric.integrations.judging import Judge
from estime_metric.scorer import EstimeScorer

if TYPE_CHECKING:
    from transformers import EvalPrediction, PreTrainedTokenizerBase

    from estime_metric.integrations.judging import JudgeOptions


@dataclass(eq=False)
class EstimeComputeMetrics:
    """What `estime_compute_metrics` returns: call it with an ``EvalPrediction``."""

    judge: Judge
    tokenizer: PreTrainedTokenizerBase
    sources: list[str] | None

    @property
    def signature(self) -> str:
        """The signature of the scores; loads the encoder."""
        return self.judge.scorer.signature

    def __call__(self, outputs: EvalPrediction) -> dict[str, float]:
        """The mean of each measure by name, and as ``blank`` the number of summaries without
        tokens.

        Raises ValueError if the predictions are not token ids or not as many as the sources, or if
        inputs are missing.
        """
        summaries = self._decode("predictions", outputs.predictions)
        sources = self.sources
        if sources is None:
            if outputs.inputs is None:
                raise ValueError(
                    'Expected `sources`, or `include_for_metrics=["inputs"]` in the training arguments.'
                )
            sources = self._decode("inputs", outputs.inputs)
        result = self.judge.scorer.score(summaries, sources)
        return {measure: result.mean(measure) for measure in self.judge.measures} | {
            "blank": len(result.blank_indices)
        }

    def _decode(self, name: str, ids: Any) -> list[str]:
        """Decodes token ids of shape (n, length). Negative ids are treated as padding."""
        ids = np.asarray(ids[0] if isinstance(ids, tuple) else ids)
        if ids.ndim != 2 or not np.issubdtype(ids.dtype, np.integer):
            raise ValueError(
                f"Expected the {name} to be token ids of shape (n, length), but got {ids.dtype} of shape {ids.shape}; "
                "generated summaries need `predict_with_generate=True`."
            )
        padding = self.tokenizer.pad_token_id or 0
        texts: list[str] = self.tokenizer.batch_decode(
            np.where(ids < 0, padding, ids), skip_special_tokens=True
        )
        return texts


def estime_compute_metrics(
    tokenizer: PreTrainedTokenizerBase,
    sources: Sequence[str] | None = None,
    *,
    scorer: EstimeScorer | None = None,
    **options: Unpack[JudgeOptions],
) -> EstimeComputeMetrics:
    """``compute_metrics`` for ``Seq2SeqTrainer`` with ``predict_with_generate=True``.

    Args:
        tokenizer: what decodes the generated token ids.
        sources: the full source text of each example of the evaluation data, in order. ``None``
            decodes the inputs that the model saw; this requires
            ``include_for_metrics=["inputs"]`` in the training arguments.
        scorer: an `EstimeScorer` to share; ``None`` makes one from ``options``.
        options: options of `EstimeConfig`, and ``cache`` (see `ESTIME`). Only one layer is supported.
            ``measures`` selects the measures whose means are logged, by default ``alarms`` and
            ``inconsistency``. The Trainer prefixes them: ``eval_alarms``.

    Raises:
        TypeError, ValueError: an option is invalid; the message names it.
    """
    texts = None if sources is None else check_sources("sources", sources)
    judge = Judge(scorer, **options)
    return EstimeComputeMetrics(judge=judge, tokenizer=tokenizer, sources=texts)
