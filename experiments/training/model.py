"""What is trained: the lowest blocks of an encoder, BERT's or MPNet's, with a prediction head on
the topmost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM

from experiments.training.data import MaskedBatch

# Axes: b blocks of a batch, t positions of a block, d width, m masked positions, v vocabulary.


class NormHead(nn.Module):
    """A head for an encoder that came without one: no GELU, at first nothing but a norm.

    The decoder is tied to the input embeddings, which pre-training has left in order.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense, self.norm, self.scale = (
            nn.Linear(width, width),
            nn.LayerNorm(width),
            nn.Parameter(torch.ones(())),
        )
        nn.init.eye_(self.dense.weight)
        nn.init.zeros_(self.dense.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        """States (m, d) to inputs of the decoder (m, d)."""
        output: Tensor = self.norm(self.dense(hidden)) * self.scale
        return output


class Trainee(nn.Module):
    """An encoder without dropout, cut to its lowest blocks, and a head tied to its input
    embeddings. The position bias of an MPNet is not trained.

    Attributes:
        body: the base model of `transformers`.
        head: turns states (m, d) into inputs of the decoder.
        bias: of the decoder, (v,).
    """

    def __init__(self, body: Any, head: nn.Module, bias: Tensor) -> None:
        super().__init__()
        self.body, self.head, self.bias = body, head, nn.Parameter(bias)

    @classmethod
    def start(cls, folder: Path, blocks: int | None, counts: np.ndarray) -> Trainee:
        """The lowest `blocks` of the encoder in `folder` (all by default), with a new head.

        A BERT has its own kind of head, another encoder begins with a `NormHead`. `counts` (v,) of
        the tokens in the corpus set the bias.
        """
        model = AutoModelForMaskedLM.from_pretrained(
            folder, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
        )
        body, is_bert = model.base_model, model.config.model_type == "bert"
        del body.encoder.layer[blocks or len(body.encoder.layer) :]
        body.config.num_hidden_layers = len(body.encoder.layer)
        body.pooler = None
        width = model.config.hidden_size
        head = model.cls.predictions.transform if is_bert else NormHead(width)
        if model.config.model_type == "mpnet":
            body.encoder.relative_attention_bias.requires_grad_(False)
        shares = (counts + 0.1) / (counts + 0.1).sum()
        return cls(body, head, torch.from_numpy(np.log(shares)).float())

    @property
    def table(self) -> Tensor:
        """Input embeddings (v, d), the weight of the decoder too."""
        weight: Tensor = self.body.get_input_embeddings().weight
        return weight

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.bias.device

    def states(self, batch: MaskedBatch, *layers: int) -> list[Tensor]:
        """Outputs of some layers at the masked positions, (m, d) each."""
        states = self.body(input_ids=batch.ids, output_hidden_states=True).hidden_states
        return [states[layer].flatten(0, 1)[batch.positions] for layer in layers]

    def logits(self, states: Tensor) -> Tensor:
        """Predictions (m, v) from states (m, d) of the topmost block."""
        return torch.addmm(self.bias, self.head(states), self.table.T)
