"""BARTScore (Yuan, Neubig & Liu 2021): the mean log-probability of a summary's tokens, special ones
included, under a sequence-to-sequence model that reads the source, the direction of the toolbox
paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from estime_metric.engine.encoder.batching import pack
from estime_metric.engine.encoder.loading import quiet
from estime_metric.engine.encoder.masked import choose_device
from estime_metric.engine.encoder.precision import inference_context
from estime_metric.studies.coherence_measures import BARTSCORE_MODEL, token_ids

#: Names that configurations have for the longest source and the longest summary; a model with
#: neither has no limit.
_SOURCE_LIMITS = (
    "max_encoder_position_embeddings",
    "max_position_embeddings",
    "max_source_positions",
)
_TARGET_LIMITS = (
    "max_decoder_position_embeddings",
    "max_position_embeddings",
    "max_target_positions",
)


class BartScore:
    """Scores summaries by their probability given their sources. ``model`` is a
    sequence-to-sequence model of transformers, Hub name or folder (BART, Pegasus, T5 ...);
    ``device`` in the format of ``torch.device``, ``None``: CUDA if there is one; ``token_budget``
    the most tokens of sources and summaries in a forward pass, padding included; with ``truncate``
    texts longer than the model's positions are truncated; otherwise they raise an error. Raises
    OSError if the model cannot be loaded, ValueError if it is of another kind or lacks a weight."""

    def __init__(
        self,
        model: str = BARTSCORE_MODEL,
        *,
        device: str | None = None,
        token_budget: int = 8192,
        truncate: bool = False,
    ) -> None:
        self.token_budget = token_budget
        self.device = choose_device(device)
        self.truncate = truncate
        self.tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        self.model = _load(model).to(self.device).eval().requires_grad_(False)
        self.source_limit = _limit(self.model.config, _SOURCE_LIMITS)
        self.target_limit = _limit(self.model.config, _TARGET_LIMITS)

    def score(self, predictions: Sequence[str], sources: Sequence[str]) -> NDArray[np.float64]:
        """The score of each pair, float64 of shape (n,), zero or less, higher is better. The token
        budget changes it by no more than rounding. An empty summary has its special tokens only.
        Raises ValueError for a text that is too long if ``truncate`` is False."""
        tokenizer, cut = self.tokenizer, self.truncate
        targets = token_ids(
            "predictions", predictions, tokenizer, self.target_limit, cut, key="text_target"
        )
        origins = token_ids("sources", sources, tokenizer, self.source_limit, cut)
        scores = np.full(len(targets), np.nan)
        lengths = [len(a) + len(b) for a, b in zip(origins, targets, strict=True)]
        order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
        for inside in pack([lengths[index] for index in order], self.token_budget):
            batch = [order[index] for index in inside]
            with inference_context(self.device):
                scores[batch] = self._run(
                    [origins[index] for index in batch], [targets[index] for index in batch]
                )
        return scores

    def _run(self, origins: list[list[int]], targets: list[list[int]]) -> NDArray[np.float64]:
        """Mean log-probability of the tokens of each target; axes: b pairs, t tokens of a target, v
        vocabulary.
        """
        source, source_mask = self._padded(origins)
        target, target_mask = self._padded(targets)
        labels = target.masked_fill(~target_mask, -100)
        logits = self.model(
            input_ids=source, attention_mask=source_mask.long(), labels=labels
        ).logits  # (b, t, v)
        chances = (
            torch.log_softmax(logits.float(), dim=-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
        )  # (b, t)
        sums = chances.masked_fill(~target_mask, 0.0).double().sum(dim=1)
        means: NDArray[np.float64] = (sums / target_mask.sum(dim=1)).cpu().numpy()
        return means

    def _padded(self, rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids (b, t), and which of them are of the text."""
        pad = self.tokenizer.pad_token_id or 0
        ids = pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=pad)
        mask = pad_sequence(
            [torch.ones(len(row), dtype=torch.bool) for row in rows], batch_first=True
        )
        return ids.to(self.device), mask.to(self.device)


def _load(name: str) -> Any:
    with quiet():
        model, report = AutoModelForSeq2SeqLM.from_pretrained(
            name,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    if report["missing_keys"]:
        lacking = min(report["missing_keys"])
        raise ValueError(
            f"Expected {name!r} to contain all weights of its architecture, but it lacks {lacking!r}."
        )
    return model


def _limit(config: Any, names: Sequence[str]) -> int | None:
    return next(
        (int(value) for name in names if isinstance(value := getattr(config, name, None), int)),
        None,
    )
