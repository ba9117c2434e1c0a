"""Blocks built like BERT's or MPNet's, run by their parts: with fused attention, and the deepest
only where it is read.

Of the deepest layer only masked positions are read, about one in eight: only keys and values are
needed at all others. Axes: ``b`` windows, ``p`` positions, ``r`` positions read in all, ``q`` most
positions read in one window, ``h`` heads, ``d`` hidden width.
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

#: Where the attention of a block lies, and in it heads, query, key, value, the map after it and the
#: norm.
_LAYOUTS = (  # of BERT, RoBERTa, ELECTRA and others; of MPNet
    (
        "self.num_attention_heads",
        "self.query",
        "self.key",
        "self.value",
        "output.dense",
        "output.LayerNorm",
    ),
    ("attn.num_attention_heads", "attn.q", "attn.k", "attn.v", "attn.o", "LayerNorm"),
)
_FEED_FORWARD = (
    "intermediate.dense",
    "intermediate.intermediate_act_fn",
    "output.dense",
    "output.LayerNorm",
)

_STEP = 64  # the bias is held for multiples of this length, so that few are computed and rows are aligned
_FARTHEST = 128  # distance from which on all share MPNet's last bucket


class ReadPositions(NamedTuple):
    """The positions that are read, in ascending order of the window; all of it known before the
    device is asked.
    """

    row: Tensor  # window of each, int64 of shape (r,)
    column: Tensor
    slot: Tensor  # number of each among those of its window
    most: int  # of them in one window


class EncoderOutput(NamedTuple):
    """What is asked of the output of an encoder; ``transformers`` looks for all of it."""

    last_hidden_state: Tensor
    hidden_states: list[Tensor] | None = None
    attentions: None = None


class FusedBlock(nn.Module):
    """Stands in for a block built like BERT's or MPNet's, whose parts it takes over.

    ``only`` are the positions that are read, ``None`` for all: at others the output means nothing.
    With ``in_tuple`` it returns the hidden states in a tuple.
    """

    def __init__(self, block: Any, in_tuple: bool) -> None:
        super().__init__()
        layout = next(layout for layout in _LAYOUTS if _has(block.attention, layout))
        self.heads, self.query, self.key, self.value, self.dense, self.norm = attrgetter(*layout)(
            block.attention
        )
        self.intermediate, self.output = block.intermediate, block.output
        self.only: ReadPositions | None = None
        self._in_tuple = in_tuple
        self.train(block.training)

    @staticmethod
    def fits(block: Any) -> bool:
        """Whether the block has the parts; whether it works like these has to be tried."""
        attention = getattr(block, "attention", None)
        return any(_has(attention, layout) for layout in _LAYOUTS) and _has(block, _FEED_FORWARD)

    def forward(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor | None = None,
        *others: Any,
        **named: Any,
    ) -> Tensor | tuple[Tensor]:
        """Hidden states of shape (b, p, d) in and out; other arguments are for encoders with a
        cache.

        The mask broadcasts to (b, h, p, p): bool, False at padding, or numbers that are added to
        the scores.
        """
        states = self._run(hidden_states, attention_mask)
        return (states,) if self._in_tuple else states

    def _run(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        keys, values = self._by_head(self.key(hidden)), self._by_head(self.value(hidden))
        if self.only is None:
            return self._after_attention(
                self._attend(self.query(hidden), keys, values, mask), hidden
            )
        row, column, slot, most = self.only
        read = hidden[row, column]  # (r, d)
        queries = hidden.new_zeros(
            hidden.shape[0], most, keys.shape[1] * keys.shape[3]
        )  # (b, q, d)
        queries[row, slot] = self.query(read)
        context = self._attend(
            queries, keys, values, None if mask is None else _mask_at(mask, self.only, len(hidden))
        )
        states = hidden.clone()
        states[row, column] = self._after_attention(context[row, slot], read)
        return states

    def _attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Queries of shape (b, q, d), keys and values of shape (b, h, p, d / h) -> (b, q, d)."""
        context = scaled_dot_product_attention(self._by_head(queries), keys, values, attn_mask=mask)
        return context.transpose(1, 2).flatten(2)

    def _after_attention(self, context: Tensor, hidden: Tensor) -> Tensor:
        hidden = self.norm(self.dense(context).add_(hidden))
        wide = self.intermediate.intermediate_act_fn(self.intermediate.dense(hidden))
        states: Tensor = self.output.LayerNorm(self.output.dense(wide).add_(hidden))
        return states

    def _by_head(self, states: Tensor) -> Tensor:
        """(b, p, d) -> (b, h, p, d / h)."""
        return states.view(*states.shape[:2], self.heads, -1).transpose(1, 2)


class PositionBias(nn.Module):
    """What MPNet adds to the scores of attention by the distance of two positions, from a table:
    (buckets, heads).

    It is computed once and held; a short input takes a corner of that of a long one.
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
        keys behind.
        """
        half = self.table.num_embeddings // 2
        exact = half // 2
        positions = torch.arange(length, device=self.table.weight.device)
        behind = positions[:, None] - positions
        distance = behind.abs()
        share = torch.log(distance.float() / exact) / math.log(
            _FARTHEST / exact
        )  # of the way to the last bucket
        far = (exact + (share * (half - exact)).long()).clamp(max=half - 1)
        bucket = torch.where(distance < exact, distance, far) + half * (behind < 0)
        bias: Tensor = self.table(bucket).permute(2, 0, 1)[None].contiguous()
        return bias


class BiasedEncoder(nn.Module):
    """Stands in for the encoder of an MPNet of ``transformers``, whose blocks are each a
    `FusedBlock`.
    """

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.layer = encoder.layer
        self.bias = PositionBias(encoder.relative_attention_bias)
        self.train(encoder.training)

    @staticmethod
    def fits(encoder: Any) -> bool:
        """Whether the encoder has the parts."""
        return _has(encoder, ("layer", "relative_attention_bias", "compute_position_bias"))

    def forward(
        self, hidden_states: Tensor, attention_mask: Tensor | None = None, **named: Any
    ) -> EncoderOutput:
        """Runs the blocks; arguments as for a `FusedBlock`."""
        mask = self.bias(hidden_states, attention_mask)
        for block in self.layer:
            hidden_states = block(hidden_states, mask)
        return EncoderOutput(hidden_states)


def _mask_at(mask: Tensor, only: ReadPositions, windows: int) -> Tensor:
    """The mask for the queries that are read, of a shape that broadcasts to (b, h, q, p)."""
    if mask.shape[1] == 1:
        return mask[:, :, :1]  # padding alone: the same for all queries of a window
    row, column, slot, most = only
    chosen = mask.new_zeros(windows, most, *mask.shape[1::2])  # (b, q, h, p)
    chosen[row, slot] = mask.expand(windows, -1, -1, -1)[row, :, column]
    return chosen.transpose(1, 2)


def _has(module: Any, paths: tuple[str, ...]) -> bool:
    try:
        attrgetter(*paths)(module)
    except AttributeError:
        return False
    return True
