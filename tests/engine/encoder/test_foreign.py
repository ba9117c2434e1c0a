"""Layers of models of ``transformers``: what is read is what the whole model returns, and few blocks above
are kept.
"""

from __future__ import annotations

import copy
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from estime_metric.engine.encoder.foreign import ForeignLayers
from estime_metric.engine.masking import WindowBatch
from tests.engine.encoder.test_masked import assert_close
from tests.families import BLOCKS, SHARED_WEIGHTS, make_config, make_tokenizer


def reads(ids: torch.Tensor, attended: torch.Tensor | None = None) -> WindowBatch:
    """Inputs, (b, p), read at the positions that are attended to, bool of shape (b, p); by default all."""
    chosen = torch.ones_like(ids, dtype=torch.bool) if attended is None else attended
    row, column = torch.nonzero(chosen, as_tuple=True)
    return WindowBatch(ids, attended, torch.stack([row, column, column, row]), most=ids.shape[1])


@cache
def _loaded(folder: str) -> nn.Module:
    return transformers.AutoModelForMaskedLM.from_pretrained(folder).base_model.eval()


def whole(folder: str) -> nn.Module:
    """A copy of the model."""
    return copy.deepcopy(_loaded(folder))


def twins(family: str, **changes: object) -> list[nn.Module]:
    config = make_config(family, make_tokenizer(family), **changes)
    model = transformers.AutoModel.from_config(config).eval()
    return [model, copy.deepcopy(model)]


@torch.no_grad()
def assert_reads_all(layers: ForeignLayers, model: nn.Module, depth: int) -> None:
    """What is read is what the whole model returns, in any order of the layers, with and without padding."""
    attended = torch.arange(40) < torch.tensor([[40], [25], [13]])
    for batch in (
        reads(torch.randint(5, 200, attended.shape), attended),
        reads(torch.randint(5, 200, (1, 100))),
    ):
        mask = None if batch.attended is None else batch.attended.long()
        whole = model(input_ids=batch.ids, attention_mask=mask, output_hidden_states=True)
        for order in ([*range(depth + 1)], [*reversed(range(depth + 1))], [depth], [0]):
            expected = [whole.hidden_states[layer][batch.row, batch.column] for layer in order]
            assert_close(layers.read(batch, order), expected)


@pytest.mark.slow
@pytest.mark.parametrize("depth", range(BLOCKS + 1))
@torch.no_grad()
def test_every_layer_is_read_and_no_block_above_is_run(
    family: str, folder: str, depth: int
) -> None:
    model = whole(folder)
    before = sum(weight.numel() for weight in model.parameters())
    blocks = next(module for module in model.modules() if isinstance(module, nn.ModuleList))
    a_block = sum(weight.numel() for weight in blocks[-1].parameters())
    assert a_block > 1000
    layers = ForeignLayers(model, BLOCKS, depth)
    gone = before - sum(weight.numel() for weight in model.parameters())
    above = 0 if family in SHARED_WEIGHTS else max(0, BLOCKS - depth - 1)
    assert gone == above * a_block  # of one more, the input is read
    assert_reads_all(layers, whole(folder), depth)
    runs: list[nn.Module] = []
    for block in layers._list:
        block.register_forward_hook(lambda module, *_: runs.append(module))
    layers.read(reads(torch.tensor([[2, 4, 4, 3]])), [depth])
    assert len(runs) == depth


@torch.no_grad()
def test_layers_that_are_more_than_the_output_of_a_block() -> None:
    """DeBERTa-v2's convolution after the first block."""
    model, other = twins("deberta-v2", conv_kernel_size=3, conv_act="gelu")
    assert_reads_all(ForeignLayers(model, BLOCKS, 1), other, 1)


@torch.no_grad()
def test_albert_with_several_groups() -> None:
    model, other = twins("albert", num_hidden_groups=2, inner_group_num=1)
    for depth in (4, 3, 1):
        assert_reads_all(ForeignLayers(model, BLOCKS, depth), other, depth)


class Flat(nn.Module):
    """A model without blocks."""


class Twice(nn.Module):
    """A model that runs its last block before the others."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 4)
        self.layer = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

    def get_input_embeddings(self) -> nn.Module:
        return self.words

    def forward(self, input_ids: torch.Tensor, output_hidden_states: bool = False) -> Any:
        first = self.words(input_ids)
        second = self.layer[1](first)
        third = self.layer[0](second)
        return SimpleNamespace(last_hidden_state=third, hidden_states=(first, third, third))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Flat(), "`model` to name an encoder made of a list of blocks, but Flat has none"),
        (Twice(), "read one by one, but got Twice: layer 1 is not the input of block 1"),
    ],
)
@torch.no_grad()
def test_a_model_that_cannot_be_read_is_refused(model: nn.Module, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ForeignLayers(model, 2, 1)
