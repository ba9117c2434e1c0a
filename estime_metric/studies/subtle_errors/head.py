"""A masked language model with its prediction head: which token stands at a masked position?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder import choose_device
from estime_metric.engine.loading import load_pretrained
from estime_metric.engine.precision import inference_context
from estime_metric.engine.text import IntArray
from estime_metric.studies.subtle_errors.words import ignores_case


class PredictionHead:
    """Loads a model under the engine's rules and predicts one masked token at a time.

    Args:
        model, revision, dtype, device, window: as in `estime_metric.config.EstimeConfig`.

    Attributes:
        tokenizer: the model's fast tokenizer.
        ignores_case: whether capitals make no difference to the tokenizer.
        revision: the commit that was loaded, or the hash of a folder's content.

    Raises:
        EncoderUnavailableError: the model cannot be loaded; the message says what to do.
        ValueError: it has no mask token or no prediction head, or the window exceeds its positions.
    """

    def __init__(self, config: EstimeConfig) -> None:
        loaded = load_pretrained(config.model, config.revision, getattr(torch, config.dtype))
        headed = loaded.with_head()
        self.tokenizer: Any = loaded.tokenizer
        self.ignores_case = ignores_case(loaded.tokenizer)
        self.revision = loaded.info.resolve(config).revision
        self._window = config.window
        self._special = loaded.info.special
        self._device = choose_device(config.device)
        self._model = headed.to(self._device).requires_grad_(False)

    def scores(self, tokens: IntArray, position: int) -> Tensor:
        """What the model gives each token of the vocabulary at one position, which alone is masked.

        The model sees up to ``window`` tokens of the text with the position in their middle, or as near to it as the
        text's ends let it. Each call is one forward pass of one window, so that no other text can change the result
        even in its last digit.

        Args:
            tokens: token ids of the whole text, int64 of shape (p,).
            position: which of them to mask.

        Returns:
            Logits, float64 of shape (vocabulary,), on the CPU.
        """
        start = max(0, min(position - self._window // 2, len(tokens) - self._window))
        inside = tokens[start : start + self._window].tolist()
        inside[position - start] = self._special.mask
        ids = torch.tensor([[*self._special.before, *inside, *self._special.after]], device=self._device)
        with inference_context(self._device):
            everywhere: Tensor = self._model(input_ids=ids).logits  # (1, positions, vocabulary)
        return everywhere[0, len(self._special.before) + position - start].double().cpu()
