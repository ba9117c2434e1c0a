"""Blocks run by their parts: the hidden states of the whole model, the deepest at the positions that are read alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers

from estime_metric.engine.blocks import BlockTaps
from estime_metric.engine.fused import ReadPositions
from tests.engine.test_blocks import PROBE, batch, whole
from tests.families import BLOCKS

#: Families whose blocks are built like BERT's or MPNet's.
FUSED = ("bert", "roberta", "electra", "mpnet")


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
@pytest.mark.parametrize("depth", [1, BLOCKS])
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
    assert taps._fused == (family in FUSED)


@torch.no_grad()
def test_less_is_computed(bert_folder: str) -> None:
    taps = BlockTaps(whole(bert_folder), BLOCKS, 2, PROBE)
    rows: list[int] = []
    taps._list[1].intermediate.dense.register_forward_hook(lambda *of: rows.append(of[-1].shape[:-1].numel()))
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
    assert not taps._fused
    only = (torch.tensor([0]), torch.tensor([2]))
    (found,) = taps.read(PROBE, None, [2], lambda hidden: hidden[only], at(only))
    torch.testing.assert_close(found, expected[only])


@pytest.fixture
def biased_folder(encoder_folder: Callable[[str], str], tmp_path: Path) -> str:
    """A small MPNet whose bias matters."""
    model = transformers.AutoModelForMaskedLM.from_pretrained(encoder_folder("mpnet"))
    for name, weight in model.named_parameters():
        weight.data *= 30 if "relative" in name else 1
    shutil.copytree(encoder_folder("mpnet"), tmp_path / "biased")
    model.save_pretrained(tmp_path / "biased")
    return str(tmp_path / "biased")


@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-4), (torch.bfloat16, 0.5)])
@torch.no_grad()
def test_the_bias_of_mpnet_is_computed_once_and_reaches_the_scores(
    biased_folder: str, dtype: torch.dtype, near: float
) -> None:
    plain, model = (whole(biased_folder).to(dtype) for _ in range(2))
    taps = BlockTaps(model, BLOCKS, BLOCKS, PROBE)
    assert taps.takes_padding(torch.arange(5, 30)[None], 1)
    assert taps._mask_by_key
    plain.encoder.relative_attention_bias.weight.data.copy_(model.encoder.bias.table.weight)
    held = model.encoder.bias._held
    for length in (40, 25, 64, 7):
        ids, attended = (whole_batch[:, :length] for whole_batch in batch(64))
        only = scattered(attended)
        mask = attended.long()
        expected = plain(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        found = taps.read(ids, attended, [2, BLOCKS], lambda hidden, only=only: hidden[only], at(only))
        for states, layer in zip(found, (2, BLOCKS), strict=True):
            torch.testing.assert_close(states, expected[layer][only], rtol=near, atol=near)
    assert model.encoder.bias._held is held
    plain.encoder.relative_attention_bias.weight.data.zero_()
    without = plain(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[2]
    assert (without - expected[2])[attended].abs().max() > 2
