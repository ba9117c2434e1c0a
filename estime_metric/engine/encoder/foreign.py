"""Any BERT-like masked language model of ``transformers``, read at the input of a block.

Layer ``k`` is ``hidden_states[k]`` of ``transformers``: the input of block ``k``, after the last
block the output. ``transformers`` is imported within functions, because that takes seconds. Axes as in
`own`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from estime_metric.config import EMBEDDED_SMALL_MODEL, default_layer
from estime_metric.engine.encoder.folder import (
    WEIGHTS,
    EncoderInfo,
    UnsuitableEncoderError,
    check_folder,
    explained,
    is_bundled,
    origin,
    reason,
    special_tokens,
    unavailable,
)
from estime_metric.engine.encoder.hub import quiet, revision_of, snapshot
from estime_metric.engine.encoder.memory import is_out_of_memory
from estime_metric.engine.encoder.own import read_int8
from estime_metric.engine.encoder.precision import are_near
from estime_metric.engine.masking import WindowBatch


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A loaded model and its fast tokenizer."""

    name: str  # as the user gave it
    model: Any  # without its prediction head
    dtype: torch.dtype
    tokenizer: Any
    info: EncoderInfo
    headed: Any  # the model with its prediction head, of which ``model`` is a part; ``None`` if it has none

    @property
    def config(self) -> Any:
        """The configuration of ``transformers``."""
        return self.model.config

    def layers(self, depth: int, device: torch.device) -> ForeignLayers:
        """Its layers up to ``depth``, on a device. The blocks behind are removed from the model."""
        with torch.inference_mode(False):  # weights that are moved stay ordinary tensors
            model = self.model.to(device).requires_grad_(False)
        return ForeignLayers(model, self.info.blocks, depth)

    def with_head(self) -> Any:
        """The model with its prediction head; `ValueError` if it has none."""
        if self.headed is None:
            wanted = f"a model with its prediction head, such as {EMBEDDED_SMALL_MODEL!r}"
            raise ValueError(
                f"Expected argument `model` to name {wanted}, but {self.name!r} has none."
            )
        return self.headed

    def save(self, folder: str | Path) -> None:
        """Writes it as a folder that ``transformers`` reads, which knows nothing of int8 weights."""
        (self.model if self.headed is None else self.headed).save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def load_pretrained(model: str, revision: str | None, dtype: torch.dtype) -> Pretrained:
    """Loads tokenizer and weights with ``transformers``: safetensors only, no remote code, on the
    CPU, in eval mode.

    Raises `EncoderUnavailableError`, or ValueError if the mask token, the fast tokenizer or a
    weight is missing.
    """
    return load_commit(model, revision_of(model, revision), dtype)


def load_commit(model: str, commit: str, dtype: torch.dtype) -> Pretrained:
    """`load_pretrained` for what `revision_of` returned."""
    from transformers import (
        MODEL_FOR_MASKED_LM_MAPPING,
        AutoConfig,
        AutoModelForMaskedLM,
        AutoTokenizer,
    )

    with explained(model), quiet():
        folder = Path(origin(model))
        if not os.path.isdir(folder):
            folder = snapshot(model, commit, local_files_only=True)
        check_folder(model, folder)
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
            kind = type(config).__name__.removesuffix("Config")
            raise unavailable(model, f"it is not a masked language model: {kind}.")
        # Explicit: by default `transformers` asks at the terminal whether to run remote code.
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        _check_tokenizer(model, tokenizer)
        config.reference_compile = False  # otherwise ModernBERT compiles itself at the first call
        how: dict[str, Any] = {"config": config, "dtype": dtype, "output_loading_info": True}
        weights = folder / WEIGHTS
        stored = read_int8(weights, dtype) if weights.is_file() else None
        if stored is not None:
            made = MODEL_FOR_MASKED_LM_MAPPING[type(config)]
            headed, report = made.from_pretrained(None, state_dict=stored, **how)
        else:
            how |= {"use_safetensors": True, "trust_remote_code": False}
            headed, report = AutoModelForMaskedLM.from_pretrained(folder, **how)
    base = headed.base_model
    _check_weights(model, base, headed.base_model_prefix, report)
    head = (
        None if report["missing_keys"] else headed.eval()
    )  # what `_check_weights` lets pass belongs to the head
    blocks = int(config.num_hidden_layers)
    info = EncoderInfo(
        revision=commit,
        blocks=blocks,
        width=int(config.hidden_size),
        positions=longest_input(base),
        special=special_tokens(tokenizer),
        layer=int(getattr(config, "estime_layer", default_layer(blocks))),
        is_bundled=is_bundled(model),
    )
    return Pretrained(model, base.eval(), dtype, tokenizer, info, head)


def _check_tokenizer(model: str, tokenizer: Any) -> None:
    if tokenizer.mask_token_id is None:
        lacks = "a mask token"
    elif not tokenizer.is_fast:
        lacks = "a fast tokenizer (required for character offsets)"
    elif not set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids):
        lacks = "its tokenizer"  # if a folder contains none, `transformers` 5 makes an empty one without a warning
    else:
        return
    raise UnsuitableEncoderError(
        f"Expected argument `model` to name an encoder with {lacks}, but {model!r} has none."
    )


def _check_weights(model: str, base: nn.Module, prefix: str, report: dict[str, Any]) -> None:
    own = set(base.state_dict())
    if missing := sorted(
        name for name in report["missing_keys"] if name.removeprefix(f"{prefix}.") in own
    ):
        raise UnsuitableEncoderError(
            f"Expected argument `model` to name a complete encoder, but {model!r} lacks {len(missing)} of its weights: "
            f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}."
        )


def longest_input(base: Any) -> int | None:
    """The longest input of a model, special tokens included; ``None`` if there is no limit. Models that
    number positions from behind their padding (RoBERTa, MPNet) lose those up to it.
    """
    limit = getattr(base.config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit <= 0:
        return None
    for name, module in base.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return module.num_embeddings - (
                0 if module.padding_idx is None else module.padding_idx + 1
            )
    return limit


_PROBE = 20  # positions of the input that shows whether the layers can be read


class _DeepestReadError(Exception):
    """Ends a forward pass that has nothing more to read."""


class ForeignLayers:
    """The layers of a base model of ``transformers`` up to a depth.

    Attributes:
        input_embeddings: of each token, (vocabulary, d).

    Raises:
        ValueError: the layers cannot be read one by one.
    """

    def __init__(self, model: Any, blocks: int, depth: int) -> None:
        self._model = model
        self._list = _block_list(model, blocks)
        self.input_embeddings: Tensor = model.get_input_embeddings().weight
        columns = torch.arange(_PROBE, device=self.input_embeddings.device)
        ids = columns % len(self.input_embeddings)  # a vocabulary may be smaller
        target = torch.stack([torch.zeros_like(columns), columns, columns, columns])
        probe = WindowBatch(ids[None], None, target, most=_PROBE)
        try:
            whole = model(input_ids=probe.ids, output_hidden_states=True).hidden_states
            if len(self._list) == blocks:  # ALBERT runs the same weights again and again
                del self._list[depth + 1 :]  # a forward pass ends before the first of them
            states = self.read(probe, range(depth + 1))
        except Exception as error:  # any error of an architecture that does not accept plain input
            if is_out_of_memory(error):
                raise
            raise _unreadable(model, reason(error)) from error
        for layer, (read, expected) in enumerate(zip(states, whole, strict=False)):
            if not are_near(read, expected[0]):
                raise _unreadable(model, f"layer {layer} is not the input of block {layer}")

    def read(self, batch: WindowBatch, layers: Sequence[int]) -> list[Tensor]:
        """The hidden states of each layer at the positions to read, of shape (r, d), in the order of the
        layers; no block above them is run. Raises whatever the model raises.
        """
        states: dict[int, Tensor] = {}
        layer = 0

        def keep(hidden: Tensor) -> None:
            if layer in layers:
                states[layer] = hidden[batch.row, batch.column]
            if layer == max(layers):
                raise _DeepestReadError

        def before_block(
            module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
        ) -> None:
            nonlocal layer
            keep(arguments[0] if arguments else named["hidden_states"])
            layer += 1

        # FNet accepts no mask before version 5 of `transformers`; some encoders calculate with integers.
        mask = {} if batch.attended is None else {"attention_mask": batch.attended.long()}
        with ExitStack() as hooks:
            for block in self._list:
                hook = block.register_forward_pre_hook(before_block, with_kwargs=True)
                hooks.callback(hook.remove)
            with suppress(_DeepestReadError):
                keep(self._model(input_ids=batch.ids, **mask).last_hidden_state)
        return [states[layer] for layer in layers]


def _unreadable(model: nn.Module, reason: str) -> ValueError:
    wanted = "a BERT-like encoder whose hidden layers can be read one by one"
    return ValueError(
        f"Expected argument `model` to name {wanted}, but got {type(model).__name__}: {reason}"
    )


def _block_list(model: nn.Module, blocks: int) -> nn.ModuleList:
    """The list of blocks: the outermost of the right length, or ALBERT's groups, which are run
    again and again.
    """
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    if not lists:
        wanted = f"an encoder made of a list of blocks, but {type(model).__name__} has none."
        raise ValueError(f"Expected argument `model` to name {wanted}")
    return next((candidate for candidate in lists if len(candidate) == blocks), lists[0])
