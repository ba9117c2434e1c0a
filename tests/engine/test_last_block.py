"""The last block at the positions that are read: the hidden states of the whole block, and only where it may."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from estime_metric.engine.blocks import BlockTaps
from estime_metric.engine.last_block import LastBlock, ReadPositions
from tests.engine.test_blocks import PROBE, batch, whole
from tests.families import BLOCKS

#: Families whose blocks are built like BERT's.
LIKE_BERT = ("bert", "roberta", "electra")


def at(only: tuple[torch.Tensor, torch.Tensor]) -> ReadPositions:
    """What a batch says of the positions that are read, counted one by one."""
    rows = only[0].tolist()
    slots = [rows[:number].count(row) for number, row in enumerate(rows)]
    return ReadPositions(*only, torch.tensor(slots), max(slots) + 1)


def scattered(attended: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Some of the positions that are attended to: several in the first window, one in the last."""
    row, column = torch.nonzero(attended, as_tuple=True)
    chosen = ((column % 8 == 3) & (row < 2)) | ((row == 2) & (column == 12))
    return row[chosen], column[chosen]


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("depth", [1, 2, BLOCKS])
@torch.no_grad()
def test_it_gives_the_hidden_states_of_the_whole_block(family: str, folder: str, depth: int, padded: bool) -> None:
    ids, attended = batch()
    if not padded:
        attended[:] = True
    mask = attended.long() if padded else None
    expected = whole(folder)(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
    only = scattered(attended)
    taps = BlockTaps(whole(folder), BLOCKS, depth, PROBE)
    found = taps.read(ids, attended if padded else None, [depth, 0], lambda hidden: hidden[only], at(only))
    torch.testing.assert_close(found[0], expected[depth][only], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found[1], expected[0][only], rtol=1e-4, atol=1e-4)
    assert (taps._last is not None) == (family in LIKE_BERT)


@torch.no_grad()
def test_less_is_computed(bert_folder: str) -> None:
    taps = BlockTaps(whole(bert_folder), BLOCKS, 2, PROBE)
    assert taps._last is not None
    rows: list[int] = []
    dense = taps._last.block.intermediate.dense
    dense.register_forward_hook(lambda module, given, out: rows.append(out.shape[:-1].numel()))
    ids, attended = batch()
    only = scattered(attended)
    taps.read(ids, attended, [2], lambda hidden: hidden[only], at(only))
    taps.read(ids, attended, [2], lambda hidden: hidden[only])
    assert rows == [len(only[0]), ids.numel()]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@torch.no_grad()
def test_lower_precision_keeps_it(bert_folder: str, dtype: torch.dtype) -> None:
    assert BlockTaps(whole(bert_folder).to(dtype), BLOCKS, 3, PROBE)._last is not None


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
    assert taps._last is None
    only = (torch.tensor([0]), torch.tensor([2]))
    (found,) = taps.read(PROBE, None, [2], lambda hidden: hidden[only], at(only))
    torch.testing.assert_close(found, expected[only])


def test_parts_are_looked_for_by_name() -> None:
    assert not LastBlock.fits(nn.Linear(2, 2))
