"""Blocks built like BERT's or MPNet's, run by their parts: with fused attention, and the deepest only
if it is read.

Of the deepest layer only masked positions are read, about one in eight: only keys and values are
needed at all others. Axes: ``b`` windows, ``p`` positions, ``r`` positions read in all, ``q`` most
positions read in one window, ``h`` heads, ``d`` hidden width.

Linear maps run on a CPU by oneDNN, with weights packed once and the GELU within the product. PyTorch's
own linear map multiplies float32 by MKL, which runs AMD processors at less than half of their speed.
oneDNN comes with PyTorch too, and its compiler emits these operators; but they are private, so they
are tried before they are used.
"""

from __future__ import annotations

import math
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear, scaled_dot_product_attention

from estime_metric.engine.encoder.device import AMD, vendor
from estime_metric.engine.masking import WindowBatch

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

    With ``only`` it computes the positions that the batch reads and keeps them as ``states_read``, (r,
    d), for `BlockTaps`; the output then means nothing. With ``in_tuple`` it returns the hidden
    states in a tuple.
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
        self.states_read: Tensor | None = None
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
            states = hidden_states
            self.states_read = self._run_only(self.only, hidden_states, attention_mask)
        return (states,) if self._in_tuple else states

    def _run(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        context = self._attend(self.query(hidden), self.key(hidden), self.value(hidden), mask)
        return self._after_attention(context, hidden)

    def _run_only(self, only: WindowBatch, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """As `_run`, but queries and all that follows the attention for the positions that are read; of
        shape (r, d).
        """
        keys, values = self.key(hidden), self.value(hidden)
        windows, _, width = keys.shape
        read = hidden[only.row, only.column]  # (r, d)
        queries = keys.new_zeros(windows, only.most, width)  # (b, q, d)
        queries[only.row, only.slot] = self.query(read)
        mask = None if mask is None else _mask_at(mask, only, windows)
        context = self._attend(queries, keys, values, mask)
        return self._after_attention(context[only.row, only.slot], read)

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


#: The vendors of processors on which linear maps are packed if they have AVX-512
#: (experiments/speed/README.md). Packing gains nothing on Intel's: on a Xeon with AVX512-BF16, oneDNN and
#: MKL multiplied float32 equally fast. Without AVX-512, oneDNN is slower on AMD's, and packs no bfloat16.
VENDORS = (AMD,)

#: The largest difference from `linear` that is rounding, for results of about one, by the
#: precisions that are packed. PyTorch multiplies bfloat16 by oneDNN anyway; there packing saves
#: what it costs to bring the weights into oneDNN's layout at each call.
_ROUNDING = {torch.float32: 1e-5, torch.bfloat16: 2**-6}

_ROWS = 2048  # of the products that the layout of the weights is chosen for

_TRIAL = (5, 48, 40)  # rows, inputs and outputs of the product that is tried


class PackedLinear(nn.Module):
    """Stands in for a linear map on a CPU, in inference mode: states of shape (..., in) -> (..., out).

    It has no parameters: the packed weights can neither be saved nor copied. ``with_gelu`` applies
    the exact GELU to the result.
    """

    def __init__(self, plain: nn.Linear, *, with_gelu: bool = False) -> None:
        super().__init__()
        weight = plain.weight.detach().contiguous()
        self._weight: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
        self._bias = None if plain.bias is None else plain.bias.detach()
        self._function, self._algorithm = ("gelu", "none") if with_gelu else ("none", "")

    def forward(self, states: Tensor) -> Tensor:
        """The product, with the bias added."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            states, self._weight, self._bias, self._function, [], self._algorithm
        )
        return product


def can_pack(module: nn.Module, device: torch.device) -> bool:
    """Whether a `PackedLinear` can replace a module on a device.

    A rule of the processor and of PyTorch's version: no clock decides which of the two runs.
    """
    return (
        type(module) is nn.Linear  # not a layer made from it, such as one with an adapter
        and device.type == "cpu"
        and vendor() in VENDORS
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and _works(module.weight.dtype)
    )


@cache
def _works(dtype: torch.dtype) -> bool:
    """Whether the operators are there and calculate what `linear` does; tried once in a process."""
    if dtype not in _ROUNDING:
        return False
    rows, inputs, outputs = _TRIAL
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, device="cpu", dtype=torch.float32)

    plain = nn.Linear(inputs, outputs, device="meta", dtype=dtype)
    plain.weight = nn.Parameter((random(outputs, inputs) / inputs**0.5).to(dtype), False)
    plain.bias = nn.Parameter(random(outputs).to(dtype), False)
    states = random(rows, inputs).to(dtype)
    expected = linear(states, plain.weight, plain.bias)
    try:
        packed = PackedLinear(plain)(states)
        with_gelu = PackedLinear(plain, with_gelu=True)(states)
    except Exception:  # whatever a version without the operators, or with others, raises
        return False
    return _near(packed, expected) and _near(with_gelu, gelu(expected))


def _near(product: Tensor, expected: Tensor) -> bool:
    most = _ROUNDING[expected.dtype]
    return product.dtype == expected.dtype and torch.allclose(
        product, expected, rtol=most, atol=most
    )


def is_gelu(activation: nn.Module) -> bool:
    """Whether an activation is the exact GELU, by its values; others approximate it by a tanh."""
    values = torch.linspace(-6, 6, 1001, device="cpu", dtype=torch.float32)
    return torch.allclose(activation(values), gelu(values), rtol=0, atol=1e-6)


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
