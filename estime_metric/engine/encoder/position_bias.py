"""MPNet's attention, which adds a bias by the distance of two positions. Axes as in `fused`."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from estime_metric.engine.encoder.fused import EncoderOutput

_STEP = 64  # the bias is kept for multiples of this length, so that few are computed and rows are aligned
_FARTHEST = 128  # distance from which on all share MPNet's last bucket


class PositionBias(nn.Module):
    """What MPNet adds to the scores of attention by the distance of two positions, from a table:
    (buckets, heads).

    It is computed once and kept; a short input uses a corner of the bias of a long one.
    """

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        self.table = table
        self._held: Tensor | None = None

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """The mask of attention with the bias, broadcasting to (b, h, p, p); arguments as for a
        `FusedBlock`.
        """
        length = hidden.shape[1]
        if self._held is None or self._held.shape[-1] < length:
            self._held = self._compute(-(-length // _STEP) * _STEP)
        bias = self._held[..., :length, :length]  # (1, h, p, p)
        if mask is None:
            return bias
        return bias.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else bias + mask

    def _compute(self, length: int) -> Tensor:
        """Buckets of one distance each at first, then growing up to ``_FARTHEST``; half of them for
        later keys.
        """
        half = self.table.num_embeddings // 2
        exact = half // 2
        positions = torch.arange(length, device=self.table.weight.device)
        behind = positions[:, None] - positions
        distance = behind.abs()
        share_of_way = torch.log(distance.float() / exact) / math.log(_FARTHEST / exact)
        far = (exact + (share_of_way * (half - exact)).long()).clamp(max=half - 1)
        bucket = torch.where(distance < exact, distance, far) + half * (behind < 0)
        bias: Tensor = self.table(bucket).permute(2, 0, 1)[None].contiguous()
        return bias


class BiasedEncoder(nn.Module):
    """Replaces the encoder of an MPNet of ``transformers``, whose blocks are each a `FusedBlock`."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.layer = encoder.layer
        self.bias = PositionBias(encoder.relative_attention_bias)
        self.train(encoder.training)

    @staticmethod
    def fits(encoder: Any) -> bool:
        """Whether the encoder has the parts."""
        parts = ("layer", "relative_attention_bias", "compute_position_bias")
        return all(hasattr(encoder, part) for part in parts)

    def forward(
        self, hidden_states: Tensor, attention_mask: Tensor | None = None, **named: Any
    ) -> EncoderOutput:
        """Runs the blocks; arguments as for a `FusedBlock`."""
        mask = self.bias(hidden_states, attention_mask)
        for block in self.layer:
            hidden_states = block(hidden_states, mask)
        return EncoderOutput(hidden_states)
