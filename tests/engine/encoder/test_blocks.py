"""Packed linear maps: what PyTorch's own calculate, in the memory of one copy of the weights; where
they do not work, PyTorch's own run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor, nn

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.engine.encoder import blocks
from estime_metric.engine.encoder.blocks import FusedBlock, PackedLinear, can_pack, is_gelu
from estime_metric.engine.encoder.loading import load_pretrained
from estime_metric.engine.encoder.masked import EncoderStore, MaskedEncoder
from tests.families import BLOCKS, make_pairs

CPU = torch.device("cpu")
FUSED_FAMILIES = ("bert", "roberta", "electra", "mpnet")
PRECISIONS = {torch.float32: 1e-5}
if torch.ops.mkldnn._is_mkldnn_bf16_supported():  # not on every processor
    PRECISIONS[torch.bfloat16] = 2**-6

needs_packing = pytest.mark.skipif(
    not can_pack(nn.Linear(3, 3), CPU),
    reason="linear maps are not packed on this processor",
)


@pytest.fixture(autouse=True)
def _tried_anew() -> Iterator[None]:
    """No test finds what another one found out about this processor."""
    yield
    blocks._works.cache_clear()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> EncoderStore:
    """A separate store: encoders are loaded as the test wants them."""
    own = EncoderStore()
    monkeypatch.setattr("estime_metric.engine.encoder.masked.STORE", own)
    return own


def scored(store: EncoderStore, model: str, **options: Any) -> EstimeResult:
    store.release()
    short = {"window": 60, "margin": 10, "distance": 4}
    scorer = EstimeScorer(model=model, device="cpu", **short, **options)
    shortest = sorted(make_pairs((2, 9), (0, 20)), key=lambda pair: len(pair[1]))[:6]
    summaries, sources = zip(*shortest, strict=True)
    return scorer.score(summaries, sources)


def packed_maps(encoder: MaskedEncoder) -> int:
    return sum(isinstance(module, PackedLinear) for module in encoder.taps.list.modules())


def inputs(width: int, dtype: torch.dtype) -> list[Tensor]:
    """States of all the forms in which they come: some rows, windows of positions, none at all,
    parts of other tensors.
    """
    made = [torch.randn(7, width), torch.randn(3, 5, width), torch.randn(2, 0, width)]
    made += [torch.randn(width, 9).t(), torch.randn(4, 6, width)[:, ::2], torch.randn(width)]
    return [states.to(dtype) for states in made]


@needs_packing
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize(("ins", "outs"), [(48, 48), (32, 130), (131, 17)])
@torch.inference_mode()
def test_it_calculates_what_the_plain_map_does(ins: int, outs: int, dtype: torch.dtype) -> None:
    near = {"rtol": PRECISIONS[dtype], "atol": PRECISIONS[dtype]}
    for plain in (nn.Linear(ins, outs), nn.Linear(ins, outs, bias=False)):
        plain.to(dtype)
        packed, with_gelu = PackedLinear(plain), PackedLinear(plain, with_gelu=True)
        for states in inputs(ins, dtype):
            expected = plain(states)
            torch.testing.assert_close(packed(states), expected, **near)
            exact = nn.functional.gelu(expected.double()).to(dtype)
            torch.testing.assert_close(with_gelu(states), exact, **near)
    broken = torch.full((1, ins), torch.nan, dtype=dtype)
    assert packed(broken).isnan().all()  # `MaskedEncoder` has to see it
    assert with_gelu(broken).isnan().all()


@needs_packing
@pytest.mark.parametrize("model", ["embedded", "embedded-small", *FUSED_FAMILIES])
def test_alarms_are_those_of_the_plain_maps(
    model: str, store: EncoderStore, encoder_folder: Callable[[str], str]
) -> None:
    folder = encoder_folder(model) if model in FUSED_FAMILIES else model
    result = scored(store, folder)
    with mock.patch.object(blocks, "VENDORS", ()):
        plain = scored(store, folder)
    assert plain.signature == result.signature
    differ = (result.values("alarms") - plain.values("alarms")).abs()
    assert differ.sum() <= max(result.ties(), plain.ties())
    assert plain.values("alarms").sum() > 0
    if model in FUSED_FAMILIES:
        loaded = load_pretrained(folder, None, torch.float32)
        assert packed_maps(MaskedEncoder(loaded, BLOCKS, CPU)) == 6 * BLOCKS


def test_operators_that_are_slightly_wrong_are_not_used(
    bert_folder: str, store: EncoderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks._works.cache_clear()
    forward = PackedLinear.forward  # in bfloat16
    monkeypatch.setattr(
        PackedLinear, "forward", lambda self, states: forward(self, states.bfloat16().float())
    )
    assert not can_pack(nn.Linear(3, 3), CPU)
    assert packed_maps(EstimeScorer(model=bert_folder, device="cpu").encoder) == 0


def test_a_version_without_the_operators_is_used_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace())
    blocks._works.cache_clear()
    assert not can_pack(nn.Linear(3, 3), CPU)


@needs_packing
def test_what_is_no_plain_map_of_a_known_precision_on_a_cpu_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert all(can_pack(nn.Linear(3, 3, dtype=dtype), CPU) for dtype in PRECISIONS)
    assert not can_pack(nn.Linear(3, 3).half(), CPU)
    assert not can_pack(nn.Linear(3, 3), torch.device("cuda", 0))
    with monkeypatch.context() as without:
        without.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
        assert not can_pack(nn.Linear(3, 3), CPU)
    monkeypatch.setattr(blocks, "vendor", lambda: "AnotherVendor")
    assert not can_pack(nn.Linear(3, 3), CPU)


@needs_packing
def test_a_block_with_an_adapter_keeps_it(bert_folder: str) -> None:
    class Adapted(nn.Linear):
        """As an adapter is put on a linear map."""

    block = load_pretrained(bert_folder, None, torch.float32).model.encoder.layer[0]
    inner = block.intermediate.dense
    block.intermediate.dense = Adapted(inner.in_features, inner.out_features)
    states = torch.randn(2, 9, inner.in_features)
    with torch.inference_mode():
        fused = FusedBlock(block, in_tuple=False)
        expected = fused(states)
        fused.pack(CPU)
        torch.testing.assert_close(fused(states), expected, rtol=1e-5, atol=1e-5)
    assert isinstance(fused.widen, Adapted)
    assert isinstance(fused.narrow, PackedLinear)
    assert not any(module.training for module in fused.modules())


@pytest.mark.parametrize(
    ("activation", "exact"),
    [
        (nn.GELU(), True),
        (nn.GELU(approximate="tanh"), False),
        (nn.ReLU(), False),
    ],
)
def test_the_exact_gelu_is_told_from_others(activation: nn.Module, exact: bool) -> None:
    assert is_gelu(activation) is exact


def test_loading_draws_no_random_number(bert_folder: str, store: EncoderStore) -> None:
    blocks._works.cache_clear()
    before = torch.get_rng_state()
    EstimeScorer(model="embedded-small", device="cpu").load()
    assert torch.equal(torch.get_rng_state(), before)
