"""Blocks: what the taps read is what the whole model returns, and nothing above it is kept."""

from __future__ import annotations

import copy
from functools import cache
from unittest import mock

import pytest
import torch
import transformers
from torch import nn

from estime_metric.engine.encoder import blocks as own_blocks
from estime_metric.engine.encoder.layers import BlockTaps
from estime_metric.engine.masking import WindowBatch
from tests.engine.encoder.test_masked import assert_close
from tests.families import BLOCKS, SHARED_WEIGHTS, make_config, make_tokenizer


def reads(
    ids: torch.Tensor, attended: torch.Tensor | None = None, chosen: torch.Tensor | None = None
) -> WindowBatch:
    """Inputs, (b, p), read at the positions chosen, bool of shape (b, p); at all that are attended to
    if none are.
    """
    if chosen is None:
        chosen = torch.ones_like(ids, dtype=torch.bool) if attended is None else attended
    row, column = torch.nonzero(chosen, as_tuple=True)
    slot = chosen.cumsum(1)[chosen] - 1
    most = int(chosen.sum(1).max())
    return WindowBatch(ids, attended, torch.stack([row, column, slot, row]), most=most)


PROBE = reads(torch.tensor([[2, 4, 4, 3]]), None, torch.tensor([[False, True, True, True]]))


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


def inputs(length: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
    """Three inputs of different lengths; padding is not attended to."""
    attended = torch.arange(length) < torch.tensor([[40], [25], [13]])
    return torch.randint(5, 200, (3, length)), attended


def scattered(attended: torch.Tensor) -> torch.Tensor:
    """Some of the positions that are attended to: several in the first window, one in the last."""
    row, column = (torch.arange(size) for size in attended.shape)
    chosen = (column % 8 == 3) & (row[:, None] < 2) | (row[:, None] == 2) & (column == 12)
    return chosen & attended


@torch.no_grad()
def assert_reads(taps: BlockTaps, model: nn.Module, batch: WindowBatch, layers: list[int]) -> None:
    """The taps return what the whole model returns at the positions that the batch reads."""
    mask = None if batch.attended is None else batch.attended.long()
    whole = model(input_ids=batch.ids, attention_mask=mask, output_hidden_states=True)
    expected = [whole.hidden_states[layer][batch.row, batch.column] for layer in layers]
    assert_close(taps.read(batch, layers), expected)


def assert_reads_all(taps: BlockTaps, model: nn.Module, depth: int) -> None:
    """In any order of the layers, with and without padding, all positions and some of them."""
    ids, attended = inputs()
    for order in ([*range(depth + 1)], [*reversed(range(depth + 1))], [depth], [0]):
        assert_reads(taps, model, reads(ids, attended), order)
    for mask in (attended, None):
        chosen = scattered(torch.ones_like(attended) if mask is None else mask)
        assert_reads(taps, model, reads(ids, mask, chosen), [depth, 0])
    longer = torch.randint(5, 200, (1, 100))
    assert_reads(taps, model, reads(longer), [depth])


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
    with mock.patch.object(own_blocks, "VENDORS", ()):  # packed weights are not parameters
        taps = BlockTaps(model, BLOCKS, depth, PROBE)
    assert taps.kept == kept
    gone = before - sum(weight.numel() for weight in model.parameters())
    assert gone == (
        0 if family in SHARED_WEIGHTS else (BLOCKS - kept) * a_block
    )  # one block's weights serve for all
    assert_reads_all(taps, whole(folder), depth)
    taps = BlockTaps(whole(folder), BLOCKS, depth, PROBE)
    assert_reads_all(taps, whole(folder), depth)
    fits = family in ("bert", "roberta", "electra", "mpnet")  # blocks like BERT's or MPNet's
    assert taps.fused == (depth > 0 and fits)
    runs: list[nn.Module] = []
    for block in taps.list:
        block.register_forward_hook(lambda module, *_: runs.append(module))
    taps.read(PROBE, [depth])
    assert len(runs) == depth


@torch.no_grad()
def test_an_architecture_that_resists_keeps_all_its_blocks() -> None:
    """DeBERTa-v2's convolution after the first block: layer 1 is more than that block's output."""
    model, other = twins("deberta-v2", conv_kernel_size=3, conv_act="gelu")
    taps = BlockTaps(model, BLOCKS, 1, PROBE)
    assert taps.kept == BLOCKS
    assert_reads_all(taps, other, 1)
    assert BlockTaps(model, BLOCKS, 2, PROBE).kept == 2
    assert_reads_all(BlockTaps(model, 2, 2, PROBE), other, 1)


@torch.no_grad()
def test_albert_with_several_groups() -> None:
    model, other = twins("albert", num_hidden_groups=2, inner_group_num=1)
    for depth in (4, 3, 1):
        assert_reads_all(BlockTaps(model, BLOCKS, depth, PROBE), other, depth)
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


def alone_and_padded(first: int, padding: int) -> tuple[WindowBatch, WindowBatch]:
    """Twelve tokens, and the same behind twice as many."""
    short, long = torch.arange(first, first + 12)[None], torch.arange(first, first + 24)[None]
    together = torch.cat([long, nn.functional.pad(short, (0, 12), value=padding)])
    attended = torch.arange(24) < torch.tensor([[24], [12]])
    return reads(short), reads(together, attended)


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
        assert taps.fused
        if ignored:
            run = model.forward
            model.forward = lambda run=run, attention_mask=None, **named: run(**named)
        for first in range(1_000, 6_000, 1_000):
            assert taps.takes_padding(*alone_and_padded(first, padding=0)) is not ignored


@torch.no_grad()
def test_less_is_computed(bert_folder: str) -> None:
    taps = BlockTaps(whole(bert_folder), BLOCKS, 3, PROBE)
    rows: list[int] = []
    taps.list[1].widen.register_forward_hook(lambda *of: rows.append(of[-1].shape[:-1].numel()))
    batch = reads(*inputs(), scattered(inputs()[1]))
    taps.read(batch, [2])
    taps.read(batch, [3])
    assert rows == [len(batch.row), batch.ids.numel()]


@torch.no_grad()
def test_a_block_that_only_looks_like_berts_is_run_as_it_is(bert_folder: str) -> None:
    model = whole(bert_folder)
    block = model.encoder.layer[1]
    run = block.forward

    def doubled(*states: object, **named: object) -> torch.Tensor | tuple[torch.Tensor, ...]:
        out = run(*states, **named)
        return (out[0] * 2, *out[1:]) if isinstance(out, tuple) else out * 2

    block.forward = doubled  # another block with the same parts
    taps = BlockTaps(copy.deepcopy(model), BLOCKS, 2, PROBE)
    assert not taps.fused
    assert_reads(taps, model, PROBE, [2])
