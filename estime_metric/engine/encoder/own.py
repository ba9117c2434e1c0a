"""The bundled encoders in plain torch: their weights as they are stored, run with fused attention, and the
deepest layer only where it is read. The first score does not wait for the import of ``transformers``.

Of the deepest layer only masked positions are read, about one in two: only keys and values are
needed at all others. Axes: ``b`` windows, ``p`` positions, ``r`` positions read in all, ``q`` most
positions read in one window, ``h`` heads, ``d`` hidden width.

Linear maps run on a CPU by oneDNN, with weights packed once and the GELU within the product. PyTorch's
own linear map multiplies float32 by MKL, which runs AMD processors at less than half of their speed.
oneDNN comes with PyTorch too, and its compiler emits these operators; but they are private, so they
are tried before they are used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import embedding, gelu, layer_norm, linear, scaled_dot_product_attention

from estime_metric.engine.encoder.folder import EncoderInfo, explained, origin, special_tokens
from estime_metric.engine.encoder.processor import AMD, vendor
from estime_metric.engine.masking import WindowBatch

Weights: TypeAlias = dict[str, Tensor]

#: States (..., in) -> states (..., out).
Map: TypeAlias = Callable[[Tensor], Tensor]

#: By model type: where a block has its maps, and where its first norm is.
_ATTENTION = {
    "bert": ("self.query", "self.key", "self.value", "output.dense", "output.LayerNorm"),
    "mpnet": ("attn.q", "attn.k", "attn.v", "attn.o", "LayerNorm"),
}


def read_int8(file: Path, dtype: torch.dtype) -> Weights | None:
    """Weights that are stored as int8 with a float16 scale for each row (``NAME.scale``); ``None``
    for other files.
    """
    weights = {}
    with safe_open(file, framework="pt") as stored:
        if (stored.metadata() or {}).get("weights") != "int8":
            return None
        for name in stored.keys():  # noqa: SIM118 - no dict
            weight = stored.get_tensor(name)
            if weight.dtype == torch.int8:
                weight = weight.float().mul_(stored.get_tensor(f"{name}.scale").float()[:, None])
            if not name.endswith(".scale"):
                weights[name] = weight.to(dtype)
    return weights


@dataclass(frozen=True, eq=False)
class Bundled:
    """A bundled encoder, loaded, without its prediction head."""

    config: Any
    dtype: torch.dtype
    tokenizer: BundledTokenizer
    info: EncoderInfo
    weights: Weights

    def layers(self, depth: int, device: torch.device) -> FusedLayers:
        """Its layers up to ``depth``, on a device."""
        return FusedLayers(self.config, self.weights, depth, device)


def load_bundled(model: str, commit: str, dtype: torch.dtype) -> Bundled:
    """A bundled encoder; `EncoderUnavailableError` if the installation is damaged."""
    folder = Path(origin(model))
    with explained(model):
        config = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
        tokenizer = BundledTokenizer(folder)
        weights = read_int8(folder / "model.safetensors", dtype) or {}
        info = EncoderInfo(
            revision=commit,
            blocks=config.num_hidden_layers,
            width=config.hidden_size,
            positions=len(_positions(config, weights)),
            special=special_tokens(tokenizer),
            layer=config.estime_layer,
            is_bundled=True,
        )
        return Bundled(config, dtype, tokenizer, info, weights)


def _positions(config: Any, weights: Weights) -> Tensor:
    """The embeddings of positions; MPNet's begin behind its padding."""
    table = weights[f"{config.model_type}.embeddings.position_embeddings.weight"]
    return table[config.pad_token_id + 1 :] if config.model_type == "mpnet" else table


class BundledTokenizer:
    """A tokenizer as the engine asks for it; a special token that a text spells out is split like
    any text.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.encode_special_tokens = True
        settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        ids: dict[str, Any] = {
            name: self._tokenizer.token_to_id(token)
            for name, token in settings.items()
            if name.endswith("_token")
        }
        self.all_special_ids: list[int] = sorted(set(ids.values()))
        self.mask_token_id: int = ids["mask_token"]
        self.pad_token_id: int = ids["pad_token"]
        self.vocab_size: int = self._tokenizer.get_vocab_size(with_added_tokens=False)

    def __call__(
        self, texts: list[str], *, add_special_tokens: bool, **options: Any
    ) -> dict[str, Any]:
        """Ids and spans of each text; other options of ``transformers`` are ignored."""
        encoded = self._tokenizer.encode_batch(texts, add_special_tokens=add_special_tokens)
        return {
            "input_ids": [encoding.ids for encoding in encoded],
            "offset_mapping": [encoding.offsets for encoding in encoded],
        }

    def get_vocab(self) -> dict[str, int]:
        """All tokens with their ids."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)
        return vocabulary


class FusedLayers:
    """The layers of a BERT or an MPNet up to a depth, on a device.

    Attributes:
        input_embeddings: of each token, (vocabulary, d).
    """

    def __init__(self, config: Any, weights: Weights, depth: int, device: torch.device) -> None:
        kind = config.model_type
        stored = {name.removeprefix(f"{kind}."): weight for name, weight in weights.items()}
        first = stored["embeddings.word_embeddings.weight"].to(device)
        self.input_embeddings = first
        self._positions = _positions(config, weights).to(device)
        types = stored.get("embeddings.token_type_embeddings.weight")
        self._type = None if types is None else types[0].to(device)
        self._norm = _norm(stored, "embeddings.LayerNorm", config.layer_norm_eps, device)
        self._blocks = [
            _Block(stored, f"encoder.layer.{number}", config, device) for number in range(depth)
        ]
        buckets = stored.get("encoder.relative_attention_bias.weight")
        self._bias = None if buckets is None else PositionBias(buckets.to(device))

    def read(self, batch: WindowBatch, layers: Sequence[int]) -> list[Tensor]:
        """The hidden states of each layer at the positions to read, of shape (r, d), in the order of the
        layers. Layer ``k`` is the input of block ``k``, after the last block its output.
        """
        hidden = embedding(batch.ids, self.input_embeddings)
        if self._type is not None:
            hidden = hidden + self._type
        hidden = self._norm(hidden + self._positions[: batch.ids.shape[1]])
        mask = None if batch.attended is None else batch.attended[:, None, None]
        if self._bias is not None:
            mask = self._bias(hidden.shape[1], mask)
        states = {}
        deepest = max(layers)
        for layer, block in enumerate(self._blocks[:deepest]):
            if layer in layers:
                states[layer] = hidden[batch.row, batch.column]
            if layer + 1 == deepest:
                states[deepest] = block.run_only(batch, hidden, mask)
            else:
                hidden = block.run(hidden, mask)
        if deepest == 0:
            states[0] = hidden[batch.row, batch.column]
        return [states[layer] for layer in layers]


class _Block:
    """A block of BERT or MPNet."""

    def __init__(self, weights: Weights, name: str, config: Any, device: torch.device) -> None:
        *maps, norm = (f"{name}.attention.{part}" for part in _ATTENTION[config.model_type])
        self._query, self._key, self._value, self._output = (
            _map(weights, part, device) for part in maps
        )
        self._widen = _map(weights, f"{name}.intermediate.dense", device, with_gelu=True)
        self._narrow = _map(weights, f"{name}.output.dense", device)
        self._attention_norm, self._output_norm = (
            _norm(weights, part, config.layer_norm_eps, device)
            for part in (norm, f"{name}.output.LayerNorm")
        )
        self._heads = config.num_attention_heads

    def run(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Hidden states of shape (b, p, d) in and out. The mask broadcasts to (b, h, p, p): bool, False
        at padding, or numbers that are added to the scores.
        """
        context = self._attend(self._query(hidden), self._key(hidden), self._value(hidden), mask)
        return self._after_attention(context, hidden)

    def run_only(self, only: WindowBatch, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """As `run`, but queries and all that follows the attention for the positions that are read; of
        shape (r, d).
        """
        keys, values = self._key(hidden), self._value(hidden)
        windows, _, width = keys.shape
        read = hidden[only.row, only.column]  # (r, d)
        queries = keys.new_zeros(windows, only.most, width)  # (b, q, d)
        queries[only.row, only.slot] = self._query(read)
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
        return states.view(*states.shape[:2], self._heads, -1).transpose(1, 2)

    def _after_attention(self, context: Tensor, hidden: Tensor) -> Tensor:
        # The sum within oneDNN's product would first copy what is added: slower than this one.
        hidden = self._attention_norm(self._output(context).add_(hidden))
        return self._output_norm(self._narrow(self._widen(hidden)).add_(hidden))


def _norm(weights: Weights, name: str, eps: float, device: torch.device) -> Map:
    weight, bias = (weights[f"{name}.{part}"].to(device) for part in ("weight", "bias"))
    return lambda states: layer_norm(states, weight.shape, weight, bias, eps)


def _map(weights: Weights, name: str, device: torch.device, *, with_gelu: bool = False) -> Map:
    """A linear map, packed if that is possible; ``with_gelu`` applies the exact GELU to the result."""
    weight, bias = (weights[f"{name}.{part}"].to(device) for part in ("weight", "bias"))
    if can_pack(weight.dtype, device):
        return packed(weight, bias, with_gelu=with_gelu)
    if with_gelu:
        return lambda states: gelu(linear(states, weight, bias))
    return lambda states: linear(states, weight, bias)


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


def packed(weight: Tensor, bias: Tensor, *, with_gelu: bool = False) -> Map:
    """A linear map on a CPU with a packed weight, in inference mode."""
    weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _ROWS)
    function, algorithm = ("gelu", "none") if with_gelu else ("none", "")
    multiply: Callable[..., Tensor] = torch.ops.mkldnn._linear_pointwise
    return lambda states: multiply(states, weight, bias, function, [], algorithm)


def can_pack(dtype: torch.dtype, device: torch.device) -> bool:
    """Whether linear maps are packed on a device.

    A rule of the processor and of PyTorch's version: no clock decides which of the two runs.
    """
    return (
        device.type == "cpu"
        and vendor() in VENDORS
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and _works(dtype)
    )


@cache
def _works(dtype: torch.dtype) -> bool:
    """Whether the operators are there and calculate what `linear` does; tried once in a process."""
    if dtype not in _ROUNDING:
        return False
    rows, inputs, outputs = _TRIAL
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> Tensor:
        numbers = torch.randn(*shape, generator=generator, device="cpu", dtype=torch.float32)
        return numbers.to(dtype)

    weight, bias, states = (
        random(outputs, inputs) / inputs**0.5,
        random(outputs),
        random(rows, inputs),
    )
    expected = linear(states, weight, bias)
    try:
        product, with_gelu = (
            packed(weight, bias, with_gelu=has_gelu)(states) for has_gelu in (False, True)
        )
    except Exception:  # whatever a version without the operators, or with others, raises
        return False
    most = _ROUNDING[dtype]
    return all(
        torch.allclose(values, wanted, rtol=most, atol=most)
        for values, wanted in ((product, expected), (with_gelu, gelu(expected)))
    )


_STEP = 64  # the bias is kept for multiples of this length, so that few are computed and rows are aligned
_FARTHEST = 128  # distance from which on all share MPNet's last bucket


class PositionBias:
    """What MPNet adds to the scores of attention by the distance of two positions, from a table:
    (buckets, heads).

    It is computed once and kept; a short input uses a corner of the bias of a long one.
    """

    def __init__(self, table: Tensor) -> None:
        self._table = table
        self._held: Tensor | None = None

    def __call__(self, length: int, mask: Tensor | None) -> Tensor:
        """The mask of attention for inputs of a length with the bias, broadcasting to (b, h, p, p);
        the mask of padding is bool.
        """
        if self._held is None or self._held.shape[-1] < length:
            self._held = self._compute(-(-length // _STEP) * _STEP)
        bias = self._held[..., :length, :length]  # (1, h, p, p)
        return bias if mask is None else bias.masked_fill(~mask, -torch.inf)

    def _compute(self, length: int) -> Tensor:
        """Buckets of one distance each at first, then growing up to ``_FARTHEST``; half of them for
        later keys.
        """
        half = len(self._table) // 2
        exact = half // 2
        positions = torch.arange(length, device=self._table.device)
        behind = positions[:, None] - positions
        distance = behind.abs()
        share_of_way = torch.log(distance.float() / exact) / math.log(_FARTHEST / exact)
        far = (exact + (share_of_way * (half - exact)).long()).clamp(max=half - 1)
        bucket = torch.where(distance < exact, distance, far) + half * (behind < 0)
        return embedding(bucket, self._table).permute(2, 0, 1)[None].contiguous()
