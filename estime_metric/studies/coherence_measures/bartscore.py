"""BARTScore (Yuan, Neubig & Liu 2021): the mean log-probability of a summary's tokens, special ones
included, under a sequence-to-sequence model that reads the source, the direction of the toolbox
paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from estime_metric.engine.encoder.device import choose_device, inference_context
from estime_metric.studies.coherence_measures import (
    BARTSCORE_MODEL,
    batches_by_length,
    check_lengths,
)
from estime_metric.table.arrays import Floats


def bart_scores(
    summaries: Sequence[str],
    sources: Sequence[str],
    model: str = BARTSCORE_MODEL,
    *,
    device: str | None = None,
    truncate: bool = False,
    batch_size: int = 8,
) -> Floats:
    """The score of each pair, float64 of shape (n,), zero or less, higher is better.

    An empty summary has its special tokens only. ``model`` is a sequence-to-sequence model of
    transformers, Hub name or folder; ``device`` as for ``torch.device``, ``None``: CUDA if there is
    one; with ``truncate``, texts longer than the model's positions are cut. Raises OSError if the
    model cannot be loaded, ValueError for a text that is too long.
    """
    tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
    loaded = AutoModelForSeq2SeqLM.from_pretrained(
        model, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
    )
    loaded.to(choose_device(device)).eval()
    limit = getattr(loaded.config, "max_position_embeddings", None)  # none if they are relative
    if not truncate:
        check_lengths("summaries", summaries, tokenizer, limit)
        check_lengths("sources", sources, tokenizer, limit)
    cut = {"truncation": True, "max_length": limit} if limit is not None else {}
    scores = np.full(len(summaries), np.nan)
    for batch in batches_by_length(sources, batch_size):
        source, target = (
            tokenizer([texts[index] for index in batch], padding=True, return_tensors="pt", **cut)
            for texts in (sources, summaries)
        )
        labels = target.input_ids.masked_fill(target.attention_mask == 0, -100).to(loaded.device)
        with inference_context(loaded.device):
            logits = loaded(
                input_ids=source.input_ids.to(loaded.device),
                attention_mask=source.attention_mask.to(loaded.device),
                labels=labels,
            ).logits  # (b, t, v)
            losses = cross_entropy(logits.float().transpose(1, 2), labels, reduction="none")
        scores[batch] = -losses.double().sum(1).cpu() / target.attention_mask.sum(1)
    return scores
