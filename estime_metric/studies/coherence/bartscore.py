"""BARTScore (Yuan, Neubig & Liu 2021): how probable is the summary, given its source, to a model that writes text?

The score is the mean log-probability of the summary's tokens under a sequence-to-sequence model that reads the source
(the direction source to summary, which the toolbox paper takes with ``facebook/bart-large-cnn``). Zero or less; higher
is better. As in the original, all tokens of the summary count, its special tokens too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from estime_metric.engine.encoder import choose_device
from estime_metric.engine.loading import quiet
from estime_metric.engine.precision import inference_context
from estime_metric.studies.coherence import BARTSCORE_MODEL

#: Names that configurations have for the longest source and the longest summary; a model with neither has no limit.
_SOURCE_LIMITS = ("max_encoder_position_embeddings", "max_position_embeddings", "max_source_positions")
_TARGET_LIMITS = ("max_decoder_position_embeddings", "max_position_embeddings", "max_target_positions")


class BartScore:
    """Scores summaries by their probability given their sources.

    Args:
        model: sequence-to-sequence model of transformers: Hub name or local folder (BART, Pegasus, T5 ...).
        revision: commit, tag or branch of a Hub model.
        device: as ``torch.device`` takes it; ``None`` takes a CUDA device if there is one, else the CPU.
        dtype: ``"float32"``, ``"bfloat16"`` or ``"float16"`` for the model; probabilities are float32 always.
        token_budget: most tokens of sources and summaries in a forward pass, padding included.
        truncate: cut texts that are longer than the model's positions, else they are refused; `truncated` tells which.

    Raises:
        OSError: the model cannot be loaded.
        ValueError: it is not a sequence-to-sequence model, a weight is missing, or ``token_budget`` is not positive.
    """

    def __init__(
        self,
        model: str = BARTSCORE_MODEL,
        *,
        revision: str | None = None,
        device: str | None = None,
        dtype: str = "float32",
        token_budget: int = 8192,
        truncate: bool = False,
    ) -> None:
        if token_budget < 1:
            raise ValueError(f"Expected argument `token_budget` to be at least 1, but got {token_budget}.")
        self.name = model
        self.device = choose_device(device)
        self.token_budget = token_budget
        self.truncate = truncate
        #: Indices of the pairs of the last call of which a text was cut.
        self.truncated: tuple[int, ...] = ()
        self.tokenizer = AutoTokenizer.from_pretrained(model, revision=revision, trust_remote_code=False)
        self.model = _load(model, revision, getattr(torch, dtype))
        self.model.to(self.device).eval().requires_grad_(False)
        self.source_limit = _limit(self.model.config, _SOURCE_LIMITS)
        self.target_limit = _limit(self.model.config, _TARGET_LIMITS)

    def score(self, predictions: Sequence[str], sources: Sequence[str]) -> NDArray[np.float64]:
        """The score of each pair, float64 of shape (n,), zero or less, higher is better.

        The token budget changes it by no more than rounding. An empty summary has its special tokens only.

        Raises:
            TypeError: ``predictions`` or ``sources`` is a single string.
            ValueError: their numbers differ, or a text is too long for the model and ``truncate`` is False; the message
                names the pair.
        """
        if isinstance(predictions, str) or isinstance(sources, str):
            raise TypeError(
                "Expected arguments `predictions` and `sources` to be sequences of texts, but got a string."
            )
        if len(predictions) != len(sources):
            raise ValueError(
                f"Expected argument `sources` to hold {len(predictions)} texts, one for each prediction, but got "
                f"{len(sources)}."
            )
        cut: set[int] = set()
        targets = self._encode(predictions, "predictions", self.target_limit, cut)
        origins = self._encode(sources, "sources", self.source_limit, cut)
        self.truncated = tuple(sorted(cut))
        scores = np.full(len(targets), np.nan)
        for batch in self._batches([len(a) + len(b) for a, b in zip(origins, targets, strict=True)]):
            with inference_context(self.device):
                scores[batch] = self._run([origins[index] for index in batch], [targets[index] for index in batch])
        return scores

    def _encode(self, texts: Sequence[str], name: str, limit: int | None, cut: set[int]) -> list[list[int]]:
        """Token ids of each text, special tokens included, no longer than the limit."""
        if not len(texts):
            return []
        key = {"text_target" if name == "predictions" else "text": list(texts)}
        rows: list[list[int]] = self.tokenizer(**key, verbose=False)["input_ids"]
        long = [index for index, row in enumerate(rows) if limit is not None and len(row) > limit]
        if long and not self.truncate:
            raise ValueError(
                f"Expected argument `{name}` to hold texts of at most {limit} tokens, the positions of {self.name!r}, "
                f"but the one at index {long[0]} has {len(rows[long[0]])}. With `truncate=True` it is cut."
            )
        cut.update(long)
        return self.tokenizer(**key, truncation=True, max_length=limit)["input_ids"] if long else rows

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Indices of pairs, long ones first, in batches within the token budget; one pair at least in each."""
        batch: list[int] = []
        for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
            if batch and (len(batch) + 1) * lengths[batch[0]] > self.token_budget:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def _run(self, origins: list[list[int]], targets: list[list[int]]) -> NDArray[np.float64]:
        """Mean log-probability of the tokens of each target; axes: b pairs, t tokens of a target, v vocabulary."""
        source, source_mask = self._padded(origins)
        target, target_mask = self._padded(targets)
        labels = target.masked_fill(~target_mask, -100)
        logits = self.model(input_ids=source, attention_mask=source_mask.long(), labels=labels).logits  # (b, t, v)
        chances = torch.log_softmax(logits.float(), dim=-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)  # (b, t)
        sums = chances.masked_fill(~target_mask, 0.0).double().sum(dim=1)
        means: NDArray[np.float64] = (sums / target_mask.sum(dim=1)).cpu().numpy()
        return means

    def _padded(self, rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids (b, t), and which of them are of the text."""
        ids, masks = ([torch.tensor(row) for row in rows], [torch.ones(len(row), dtype=torch.bool) for row in rows])
        pad = self.tokenizer.pad_token_id or 0
        padded = pad_sequence(ids, batch_first=True, padding_value=pad), pad_sequence(masks, batch_first=True)
        return padded[0].to(self.device), padded[1].to(self.device)


def _load(name: str, revision: str | None, dtype: torch.dtype) -> Any:
    with quiet():
        model, report = AutoModelForSeq2SeqLM.from_pretrained(
            name,
            revision=revision,
            dtype=dtype,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    if report["missing_keys"]:
        lacking = min(report["missing_keys"])
        raise ValueError(f"Expected {name!r} to hold all weights of its architecture, but it lacks {lacking!r}.")
    return model


def _limit(config: Any, names: Sequence[str]) -> int | None:
    return next((int(value) for name in names if isinstance(value := getattr(config, name, None), int)), None)
