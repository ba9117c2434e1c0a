"""The last block that is run, computed only at the positions that are read.

Of the hidden states of the deepest layer only those at masked positions are read, about one in eight. Keys and values
are needed at all positions, everything else in that block only at these.

Axes: ``b`` windows, ``p`` positions, ``r`` positions read in all, ``q`` most positions read in one window, ``h`` heads,
``d`` hidden width.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

#: Parts that a block has where it is built like BERT's: BERT, RoBERTa and ELECTRA among others.
_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.self.num_attention_heads",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "intermediate.intermediate_act_fn",
    "output.dense",
    "output.LayerNorm",
)


class ReadPositions(NamedTuple):
    """The positions that are read, in ascending order of the window; all of it known before the device is asked.

    Attributes:
        row, column: window and column of each, int64 of shape (r,).
        slot: number of each among those of its window, int64 of shape (r,).
        most: most of them in one window.
    """

    row: Tensor
    column: Tensor
    slot: Tensor
    most: int


class LastBlock(nn.Module):
    """Stands in for a block built like BERT's.

    Attributes:
        only: the positions that are read; ``None`` to run the block as it is. At other positions the output means
            nothing.
    """

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block: Any = block
        self.only: ReadPositions | None = None
        self._in_tuple = False
        self.train(block.training)

    @staticmethod
    def fits(block: nn.Module) -> bool:
        """Whether the block has the parts of BERT's; whether it works like it has to be tried."""
        return all(_has(block, path) for path in _PARTS)

    def forward(
        self, hidden_states: Tensor, attention_mask: Tensor | None = None, *others: Any, **named: Any
    ) -> Tensor | tuple[Any, ...]:
        """Hidden states of shape (b, p, d) in and out, in whatever the block wraps its own output."""
        if self.only is None:
            output: Tensor | tuple[Any, ...] = self.block(hidden_states, attention_mask, *others, **named)
            self._in_tuple = isinstance(output, tuple)
            return output
        states = hidden_states.clone()
        states[self.only.row, self.only.column] = self._at(hidden_states, attention_mask, self.only)
        return (states,) if self._in_tuple else states

    def _at(self, hidden: Tensor, mask: Tensor | None, only: ReadPositions) -> Tensor:
        """The block's output at the positions that are read, of shape (r, d)."""
        attention, windows = self.block.attention, hidden.shape[0]
        row, column, slot, most = only
        read = hidden[row, column]  # (r, d)
        queries = hidden.new_zeros(windows, most, hidden.shape[-1])  # (b, q, d)
        queries[row, slot] = attention.self.query(read)
        heads = attention.self.num_attention_heads
        context = scaled_dot_product_attention(  # (b, h, q, d / h)
            _by_head(queries, heads),
            _by_head(attention.self.key(hidden), heads),
            _by_head(attention.self.value(hidden), heads),
            attn_mask=None if mask is None else mask[:, :, :1],  # the same for all queries of a window
        )
        context = context.transpose(1, 2).flatten(2)[row, slot]  # (b, h, q, d / h) -> (b, q, d) -> (r, d)
        read = attention.output.LayerNorm(attention.output.dense(context) + read)
        wide = self.block.intermediate.intermediate_act_fn(self.block.intermediate.dense(read))
        states: Tensor = self.block.output.LayerNorm(self.block.output.dense(wide) + read)
        return states


def _by_head(states: Tensor, heads: int) -> Tensor:
    """(b, p, d) -> (b, h, p, d / h)."""
    return states.view(*states.shape[:2], heads, -1).transpose(1, 2)


def _has(block: Any, path: str) -> bool:
    for name in path.split("."):
        if not hasattr(block, name):
            return False
        block = getattr(block, name)
    return True
