"""Blocks: what the taps read is what the whole model returns, and nothing above it is kept."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from unittest import mock

import pytest
import torch
import transformers
from torch import nn

from estime_metric.engine.encoder import linear
from estime_metric.engine.encoder.blocks import BlockTaps
from estime_metric.engine.encoder.fused import ReadPositions
from tests.engine.encoder.test_masked import assert_close
from tests.families import BLOCKS, SHARED_WEIGHTS, make_config, make_tokenizer

PROBE = torch.tensor([[2, 4, 4, 3]])


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


def batch(length: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
    """Three inputs of different lengths; padding is not attended to."""
    attended = torch.arange(length) < torch.tensor([[40], [25], [13]])
    return torch.randint(5, 200, (3, length)), attended


def assert_reads(taps: BlockTaps, model: nn.Module, depth: int) -> None:
    ids, attended = batch()
    expected = model(
        input_ids=ids, attention_mask=attended.long(), output_hidden_states=True
    ).hidden_states
    layers = list(range(depth + 1))
    for order in (layers, layers[::-1], layers[-1:], layers[:1]):
        found = taps.read(ids, attended, order, lambda hidden: hidden[attended])
        assert_close(found, [expected[layer][attended] for layer in order])


def at(only: tuple[torch.Tensor, torch.Tensor]) -> ReadPositions:
    """What a batch says of the positions that are read, counted one by one."""
    rows = only[0].tolist()
    slots = [rows[:number].count(row) for number, row in enumerate(rows)]
    return ReadPositions(*only, slot=torch.tensor(slots), most=max(slots) + 1)


def scattered(attended: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Some of the positions that are attended to: several in the first window, one in the last."""
    row, column = torch.nonzero(attended, as_tuple=True)
    chosen = ((column % 8 == 3) & (row < 2)) | ((row == 2) & (column == 12))
    return row[chosen], column[chosen]


@pytest.mark.slow
@pytest.mark.parametrize("depth", range(BLOCKS + 1))
@torch.no_grad()
def test_every_layer_is_read_and_the_blocks_above_are_gone(
    family: str, folder: str, depth: int
) -> None:
    model, kept = whole(folder), max(depth, 1)
    before = sum(weight.numel() for weight in model.parameters())
    blocks = next(module for module in model.modules() if isinstance(module, nn.ModuleList))
    a_block = sum(weight.numel() for weight in blocks[-1].parameters())
    assert a_block > 1000
    with mock.patch.object(linear, "VENDORS", ()):  # packed weights are not parameters
        taps = BlockTaps(model, BLOCKS, depth, PROBE)
    assert taps.mode.blocks == kept
    gone = before - sum(weight.numel() for weight in model.parameters())
    assert gone == (
        0 if family in SHARED_WEIGHTS else (BLOCKS - kept) * a_block
    )  # one block's weights serve for all
    assert_reads(taps, whole(folder), depth)
    taps = BlockTaps(whole(folder), BLOCKS, depth, PROBE)
    model = whole(folder)
    assert_reads(taps, model, depth)
    ids, attended = batch()
    for given in (attended, None):  # at some positions alone
        only = scattered(torch.ones_like(attended) if given is None else given)
        mask = None if given is None else given.long()
        expected = model(
            input_ids=ids, attention_mask=mask, output_hidden_states=True
        ).hidden_states
        found = taps.read(ids, given, [depth, 0], lambda hidden, only=only: hidden[only], at(only))
        assert_close(found, [expected[layer][only] for layer in (depth, 0)])
    fits = family in ("bert", "roberta", "electra", "mpnet")  # blocks like BERT's or MPNet's
    assert taps.mode.fused == (depth > 0 and fits)
    runs: list[nn.Module] = []
    for block in taps.list:
        block.register_forward_hook(lambda module, *_: runs.append(module))
    taps.read(PROBE, None, [depth], lambda hidden: hidden)
    assert len(runs) == depth


@torch.no_grad()
def test_no_hook_is_left_behind(bert_folder: str) -> None:
    model = whole(bert_folder)
    taps = BlockTaps(model, BLOCKS, 3, PROBE)
    before = [
        (len(module._forward_hooks), len(module._forward_pre_hooks)) for module in model.modules()
    ]
    taps.read(PROBE, None, [0, 3], lambda hidden: hidden)
    with pytest.raises(IndexError):
        taps.read(torch.tensor([[10**6]]), None, [3], lambda hidden: hidden)
    assert before == [
        (len(module._forward_hooks), len(module._forward_pre_hooks)) for module in model.modules()
    ]


@torch.no_grad()
def test_an_architecture_that_resists_keeps_all_its_blocks() -> None:
    """DeBERTa-v2's convolution after the first block: layer 1 is more than that block's output."""
    model, other = twins("deberta-v2", conv_kernel_size=3, conv_act="gelu")
    taps = BlockTaps(model, BLOCKS, 1, PROBE)
    assert taps.mode.blocks == BLOCKS
    assert_reads(taps, other, 1)
    assert BlockTaps(model, BLOCKS, 2, PROBE).mode.blocks == 2
    assert_reads(BlockTaps(model, 2, 2, PROBE), other, 1)


@torch.no_grad()
def test_albert_with_several_groups() -> None:
    model, other = twins("albert", num_hidden_groups=2, inner_group_num=1)
    for depth in (4, 3, 1):
        assert_reads(BlockTaps(model, BLOCKS, depth, PROBE), other, depth)
        model.config.num_hidden_layers = BLOCKS


@torch.no_grad()
def test_a_model_without_a_list_of_blocks_is_refused() -> None:
    class Flat(nn.Module):
        def forward(self, input_ids, output_hidden_states=False):
            raise AssertionError

    with pytest.raises(
        ValueError, match="`model` to name an encoder made of a list of blocks, but Flat has none"
    ):
        BlockTaps(Flat(), 2, 1, PROBE)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@torch.no_grad()
def test_padding_is_taken_in_lower_precision(dtype: torch.dtype, small_folder: str) -> None:
    """By the bundled encoder, where rounding is that of a trained one; not by one that ignores the
    mask.
    """
    for ignored in (False, True):
        model = whole(small_folder).to(dtype)
        depth = model.config.num_hidden_layers
        taps = BlockTaps(model, depth, depth, PROBE)
        assert taps.mode.fused
        if ignored:
            run = model.forward
            model.forward = lambda run=run, attention_mask=None, **named: run(**named)
        for first in range(1_000, 6_000, 1_000):
            assert taps.takes_padding(torch.arange(first, first + 24)[None], 0) is not ignored


@torch.no_grad()
def test_less_is_computed(bert_folder: str) -> None:
    taps = BlockTaps(whole(bert_folder), BLOCKS, 2, PROBE)
    rows: list[int] = []
    taps.list[1].widen.register_forward_hook(lambda *of: rows.append(of[-1].shape[:-1].numel()))
    ids, attended = batch()
    only = scattered(attended)
    taps.read(ids, attended, [2], lambda hidden: hidden[only], at(only))
    taps.read(ids, attended, [2], lambda hidden: hidden[only])
    assert rows == [len(only[0]), ids.numel()]


@torch.no_grad()
def test_a_block_that_only_looks_like_berts_is_run_as_it_is(bert_folder: str) -> None:
    model = whole(bert_folder)
    block = model.encoder.layer[1]
    run = block.forward

    def doubled(*given: object, **named: object) -> torch.Tensor | tuple[torch.Tensor, ...]:
        out = run(*given, **named)
        return (out[0] * 2, *out[1:]) if isinstance(out, tuple) else out * 2

    block.forward = doubled  # another block with the same parts
    expected = model(input_ids=PROBE, output_hidden_states=True).hidden_states[2]
    taps = BlockTaps(model, BLOCKS, 2, PROBE)
    assert not taps.mode.fused
    only = (torch.tensor([0]), torch.tensor([2]))
    (found,) = taps.read(PROBE, None, [2], lambda hidden: hidden[only], at(only))
    torch.testing.assert_close(found, expected[only])


@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-4), (torch.bfloat16, 0.5)])
@torch.no_grad()
def test_the_bias_of_mpnet_is_computed_once_and_is_used(
    encoder_folder: Callable[[str], str], dtype: torch.dtype, near: float
) -> None:
    plain = whole(encoder_folder("mpnet")).to(dtype)
    plain.encoder.relative_attention_bias.weight *= 30
    model = copy.deepcopy(plain)
    taps = BlockTaps(model, BLOCKS, BLOCKS, PROBE)
    assert taps.takes_padding(torch.arange(5, 30)[None], 1)
    assert taps.mode.mask_by_key
    plain.encoder.relative_attention_bias.weight.data.copy_(model.encoder.bias.table.weight)
    computed: list[int] = []
    model.encoder.bias.table.register_forward_hook(lambda *_: computed.append(1))
    for length in (40, 25, 64, 7):
        ids, attended = (whole_batch[:, :length] for whole_batch in batch(64))
        only = scattered(attended)
        mask = attended.long()
        expected = plain(
            input_ids=ids, attention_mask=mask, output_hidden_states=True
        ).hidden_states
        found = taps.read(
            ids, attended, [2, BLOCKS], lambda hidden, only=only: hidden[only], at(only)
        )
        torch.testing.assert_close(
            found, [expected[layer][only] for layer in (2, BLOCKS)], rtol=near, atol=near
        )
    assert not computed  # `takes_padding` was the only time
    plain.encoder.relative_attention_bias.weight.data.zero_()
    without = plain(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[2]
    assert (without - expected[2])[attended].abs().max() > 2
