"""Blocks built like BERT's or MPNet's, run by their parts: with fused attention, and the deepest
only if it is read.

Of the deepest layer only masked positions are read, about one in eight: only keys and values are
needed at all others. Axes: ``b`` windows, ``p`` positions, ``r`` positions read in all, ``q`` most
positions read in one window, ``h`` heads, ``d`` hidden width.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from estime_metric.engine.encoder.batching import WindowBatch
from estime_metric.engine.encoder.linear import PackedLinear, can_pack, is_gelu

#: Where a block keeps its parts, by the names that `FusedBlock` gives them.
_FEED_FORWARD = {
    "widen": "intermediate.dense",
    "activation": "intermediate.intermediate_act_fn",
    "narrow": "output.dense",
    "output_norm": "output.LayerNorm",
}
_BERT = {  # RoBERTa, ELECTRA and others too
    "heads": "attention.self.num_attention_heads",
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attention_output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    **_FEED_FORWARD,
}
_MPNET = {
    "heads": "attention.attn.num_attention_heads",
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "attention_output": "attention.attn.o",
    "attention_norm": "attention.LayerNorm",
    **_FEED_FORWARD,
}

#: The parts that are linear maps.
_LINEAR = ("query", "key", "value", "attention_output", "widen", "narrow")


class EncoderOutput(NamedTuple):
    """What is asked of the output of an encoder; ``transformers`` looks for all of it."""

    last_hidden_state: Tensor
    hidden_states: list[Tensor] | None = None
    attentions: None = None


class FusedBlock(nn.Module):
    """Replaces a block built like BERT's or MPNet's, and uses its parts.

    With ``only`` it computes the positions that the batch reads: at others the output means nothing.
    With ``in_tuple`` it returns the hidden states in a tuple.
    """

    def __init__(self, block: Any, in_tuple: bool) -> None:
        super().__init__()
        parts = _parts_of(block)
        assert parts is not None, "see `fits`"
        self.heads: int = parts["heads"]
        self.query, self.key, self.value = parts["query"], parts["key"], parts["value"]
        self.attention_output = parts["attention_output"]
        self.attention_norm = parts["attention_norm"]
        self.widen, self.narrow = parts["widen"], parts["narrow"]
        self.activation = parts["activation"]
        self.output_norm = parts["output_norm"]
        self.only: WindowBatch | None = None
        self._in_tuple = in_tuple
        self.train(block.training)

    @staticmethod
    def fits(block: Any) -> bool:
        """Whether the block has the parts; whether it works like these has to be tried."""
        return _parts_of(block) is not None

    def pack(self, device: torch.device) -> None:
        """Replaces the linear maps by packed ones if that is possible; the plain weights are then
        discarded.
        """
        for name in _LINEAR:
            plain = getattr(self, name)
            if not can_pack(plain, device):
                continue
            with_gelu = name == "widen" and is_gelu(self.activation)
            setattr(self, name, PackedLinear(plain, with_gelu=with_gelu))
            if with_gelu:
                self.activation = nn.Identity()
        self.train(self.training)

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
        if self.only is None:
            states = self._run(hidden_states, attention_mask)
        else:
            states = self._run_only(self.only, hidden_states, attention_mask)
        return (states,) if self._in_tuple else states

    def _run(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        context = self._attend(self.query(hidden), self.key(hidden), self.value(hidden), mask)
        return self._after_attention(context, hidden)

    def _run_only(self, only: WindowBatch, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """As `_run`, but queries and all that follows the attention for the positions that are read."""
        keys, values = self.key(hidden), self.value(hidden)
        windows, _, width = keys.shape
        read = hidden[only.row, only.column]  # (r, d)
        queries = keys.new_zeros(windows, only.most, width)  # (b, q, d)
        queries[only.row, only.slot] = self.query(read)
        mask = None if mask is None else _mask_at(mask, only, windows)
        context = self._attend(queries, keys, values, mask)
        states = hidden.clone()
        states[only.row, only.column] = self._after_attention(context[only.row, only.slot], read)
        return states

    def _attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Queries of shape (b, q, d), keys and values of shape (b, p, d) -> (b, q, d)."""
        context = scaled_dot_product_attention(
            self._by_head(queries), self._by_head(keys), self._by_head(values), attn_mask=mask
        )
        return context.transpose(1, 2).flatten(2)

    def _by_head(self, states: Tensor) -> Tensor:
        """(b, p, d) -> (b, h, p, d / h)."""
        return states.view(*states.shape[:2], self.heads, -1).transpose(1, 2)

    def _after_attention(self, context: Tensor, hidden: Tensor) -> Tensor:
        # The sum within oneDNN's product would first copy what is added: slower than this one.
        hidden = self.attention_norm(self.attention_output(context).add_(hidden))
        wide = self.activation(self.widen(hidden))
        states: Tensor = self.output_norm(self.narrow(wide).add_(hidden))
        return states


def _parts_of(block: Any) -> dict[str, Any] | None:
    """The parts of a block by their names in `_BERT`; ``None`` if it is not built so."""
    for paths in (_BERT, _MPNET):
        try:
            return {name: attrgetter(path)(block) for name, path in paths.items()}
        except AttributeError:
            continue
    return None


def _mask_at(mask: Tensor, only: WindowBatch, windows: int) -> Tensor:
    """The mask for the queries that are read, of a shape that broadcasts to (b, h, q, p)."""
    if mask.shape[1] == 1:  # padding alone: the same for all queries of a window
        return mask[:, :, :1]
    heads, positions = mask.shape[1], mask.shape[3]
    chosen = mask.new_zeros(windows, only.most, heads, positions)  # (b, q, h, p)
    chosen[only.row, only.slot] = mask.expand(windows, -1, -1, -1)[only.row, :, only.column]
    return chosen.transpose(1, 2)
