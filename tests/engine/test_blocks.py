"""Blocks: what the taps read is what the whole model returns, and nothing above it is kept."""

from __future__ import annotations

import pytest
import torch
import transformers
from torch import nn

from estime_metric.engine.blocks import BlockTaps
from tests.families import BLOCKS, SHARED_WEIGHTS, make_config, make_tokenizer

PROBE = torch.tensor([[2, 4, 4, 3]])


def whole(folder: str) -> nn.Module:
    return transformers.AutoModelForMaskedLM.from_pretrained(folder).base_model.eval()


def batch(length: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
    """Three inputs of different lengths; padding is not attended to."""
    attended = torch.arange(length) < torch.tensor([[40], [25], [13]])
    return torch.randint(5, 200, (3, length)), attended


def assert_reads(taps: BlockTaps, model: nn.Module, depth: int) -> None:
    ids, attended = batch()
    expected = model(input_ids=ids, attention_mask=attended.long(), output_hidden_states=True).hidden_states
    layers = list(range(depth + 1))
    for order in (layers, layers[::-1], layers[-1:], layers[:1]):
        found = taps.read(ids, attended, order, lambda hidden: hidden[attended])
        for layer, state in zip(order, found, strict=True):
            torch.testing.assert_close(state, expected[layer][attended], rtol=1e-4, atol=1e-4)


def blocks_of(model: nn.Module) -> nn.ModuleList:
    return next(module for module in model.modules() if isinstance(module, nn.ModuleList))


@pytest.mark.slow
@pytest.mark.parametrize("depth", range(BLOCKS + 1))
@torch.no_grad()
def test_every_layer_is_read_and_the_blocks_above_are_gone(family: str, folder: str, depth: int) -> None:
    model, kept = whole(folder), max(depth, 1)
    before = sum(weight.numel() for weight in model.parameters())
    a_block = sum(weight.numel() for weight in blocks_of(model)[-1].parameters())
    assert a_block > 1000
    taps = BlockTaps(model, BLOCKS, depth, PROBE)
    assert taps.kept == kept
    gone = before - sum(weight.numel() for weight in model.parameters())
    assert gone == (0 if family in SHARED_WEIGHTS else (BLOCKS - kept) * a_block)  # one block's weights serve for all
    assert_reads(taps, whole(folder), depth)
    runs: list[nn.Module] = []
    for block in blocks_of(model):
        block.register_forward_hook(lambda module, *_: runs.append(module))
    taps.read(PROBE, None, [depth], lambda hidden: hidden)
    assert len(runs) == depth


@torch.no_grad()
def test_no_hook_is_left_behind(bert_folder: str) -> None:
    model = whole(bert_folder)
    taps = BlockTaps(model, BLOCKS, 3, PROBE)
    before = [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in model.modules()]
    taps.read(PROBE, None, [0, 3], lambda hidden: hidden)
    with pytest.raises(IndexError):
        taps.read(torch.tensor([[10**6]]), None, [3], lambda hidden: hidden)
    assert before == [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in model.modules()]


@torch.no_grad()
def test_an_architecture_that_resists_keeps_all_its_blocks() -> None:
    """DeBERTa-v2's convolution after the first block: layer 1 is more than that block's output."""
    tokenizer = make_tokenizer("deberta-v2")
    config = make_config("deberta-v2", tokenizer, conv_kernel_size=3, conv_act="gelu")
    model = transformers.AutoModel.from_config(config).eval()
    other = transformers.AutoModel.from_config(config).eval()
    other.load_state_dict(model.state_dict())
    taps = BlockTaps(model, BLOCKS, 1, PROBE)
    assert taps.kept == BLOCKS
    assert_reads(taps, other, 1)
    assert BlockTaps(model, BLOCKS, 2, PROBE).kept == 2
    assert_reads(BlockTaps(model, 2, 2, PROBE), other, 1)


@torch.no_grad()
def test_albert_with_several_groups() -> None:
    tokenizer = make_tokenizer("albert")
    config = make_config("albert", tokenizer, num_hidden_groups=2, inner_group_num=1)
    model = transformers.AutoModel.from_config(config).eval()
    other = transformers.AutoModel.from_config(config).eval()
    other.load_state_dict(model.state_dict())
    for depth in (4, 3, 1):
        assert_reads(BlockTaps(model, BLOCKS, depth, PROBE), other, depth)
        model.config.num_hidden_layers = BLOCKS


@torch.no_grad()
def test_a_model_without_a_list_of_blocks_is_refused() -> None:
    class Flat(nn.Module):
        def forward(self, input_ids, output_hidden_states=False):
            raise AssertionError

    with pytest.raises(ValueError, match="`model` to name an encoder made of a list of blocks, but Flat has none"):
        BlockTaps(Flat(), 2, 1, PROBE)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@torch.no_grad()
def test_padding_is_taken_in_lower_precision(dtype: torch.dtype, small_folder: str) -> None:
    """By the embedded encoder, where rounding is that of a trained one; not by one that ignores the mask."""
    for ignored in (False, True):
        model = whole(small_folder).to(dtype)
        depth = model.config.num_hidden_layers
        taps = BlockTaps(model, depth, depth, PROBE)
        assert taps._fused
        if ignored:
            run = model.forward
            model.forward = lambda run=run, attention_mask=None, **named: run(**named)
        for first in range(1_000, 6_000, 1_000):
            assert taps.takes_padding(torch.arange(first, first + 24)[None], 0) is not ignored
