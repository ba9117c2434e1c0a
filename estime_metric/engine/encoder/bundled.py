"""The bundled encoders in plain torch, so that the first score does not wait for the import of
``transformers``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from estime_metric.engine.encoder.blocks import EncoderOutput, FusedBlock, PositionBias
from estime_metric.engine.encoder.loading import (
    Pretrained,
    explained,
    info_of,
    origin,
    read_int8,
)


def load_bundled(model: str, commit: str, dtype: torch.dtype) -> Pretrained:
    """`load_commit` for what `is_bundled`, without the prediction head."""
    folder = Path(origin(model))
    with explained(model):
        config = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
        tokenizer = BundledTokenizer(folder)
        built = BundledModel(config, read_int8(folder / "model.safetensors", dtype) or {}).eval()
        info = info_of(model, commit, built, tokenizer)
        return Pretrained(model, built, dtype, tokenizer, info, None)


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


class BundledModel(nn.Module):
    """A BERT or an MPNet without prediction head, of `FusedBlock`s; ``transformers`` names its
    weights so.
    """

    def __init__(self, config: SimpleNamespace, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.config = config
        parts: Any = _parts(weights, config.layer_norm_eps).get_submodule(config.model_type)
        self.embeddings = parts.embeddings
        for block in parts.encoder.layer.children():
            attention = (
                block.attention.attn if config.model_type == "mpnet" else block.attention.self
            )
            attention.num_attention_heads = config.num_attention_heads
            block.intermediate.intermediate_act_fn = nn.GELU()
        blocks = (
            parts.encoder.layer.get_submodule(str(number))
            for number in range(config.num_hidden_layers)
        )
        self.blocks = nn.ModuleList(FusedBlock(block, in_tuple=False) for block in blocks)
        self.bias: PositionBias | None = None
        if config.model_type == "mpnet":
            self.bias = PositionBias(parts.encoder.relative_attention_bias)
            self.embeddings.position_embeddings.padding_idx = (
                config.pad_token_id
            )  # positions begin behind it

    def get_input_embeddings(self) -> nn.Module:
        """As of a model of ``transformers``."""
        words: nn.Module = self.embeddings.word_embeddings
        return words

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """Runs it on token ids of shape (b, p); the mask is bool, of shape (b, 1, 1, p)."""
        table = self.embeddings.position_embeddings
        first = 0 if table.padding_idx is None else table.padding_idx + 1
        hidden = self.embeddings.word_embeddings(input_ids)
        if self.bias is None:
            hidden = hidden + self.embeddings.token_type_embeddings.weight[0]
        hidden = self.embeddings.LayerNorm(
            hidden + table.weight[first : first + input_ids.shape[1]]
        )
        mask = attention_mask if self.bias is None else self.bias(hidden, attention_mask)
        states = [hidden]
        for block in self.blocks:
            hidden = block(hidden, mask)
            states = [*states, hidden] if output_hidden_states else []
        return EncoderOutput(hidden, states)


def _parts(weights: Mapping[str, Tensor], eps: float) -> nn.Module:
    """The weights as modules: norms, linear maps, tables of embeddings, each at its name."""
    root = nn.Module()
    for name, weight in weights.items():
        *path, own, kind = name.split(".")
        if kind != "weight":
            continue
        parent = root
        for part in path:
            if not hasattr(parent, part):
                parent.add_module(part, nn.Module())
            parent = parent.get_submodule(part)
        bias = weights.get(name.removesuffix("weight") + "bias")
        if bias is None:
            parent.add_module(own, nn.Embedding.from_pretrained(weight))  # type: ignore[no-untyped-call]
            continue
        made: Any = nn.LayerNorm(len(weight), eps, device="meta")
        if weight.ndim > 1:
            made = nn.Linear(weight.shape[1], len(weight), device="meta")
        made.weight, made.bias = (
            nn.Parameter(values, requires_grad=False) for values in (weight, bias)
        )
        parent.add_module(own, made)
    return root
