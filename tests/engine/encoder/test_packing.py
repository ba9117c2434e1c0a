"""Packed linear maps: what PyTorch's own calculate, in the memory of one copy of the weights; where
they do not work, PyTorch's own run.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from unittest import mock

import pytest
import torch
from torch import Tensor
from torch.nn.functional import gelu, linear

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.engine.encoder import own, store
from estime_metric.engine.encoder.own import can_pack, packed
from tests.families import make_pairs

CPU = torch.device("cpu")
PRECISIONS = {torch.float32: 1e-5}
if torch.ops.mkldnn._is_mkldnn_bf16_supported():  # not on every processor
    PRECISIONS[torch.bfloat16] = 2**-6

needs_packing = pytest.mark.skipif(
    not can_pack(torch.float32, CPU), reason="linear maps are not packed on this processor"
)


@pytest.fixture(autouse=True)
def _tried_anew() -> Iterator[None]:
    """No test finds what another one found out about this processor."""
    own._works.cache_clear()
    yield
    own._works.cache_clear()


def scored(model: str) -> EstimeResult:
    with mock.patch.object(store, "STORE", store.EncoderStore()):
        scorer = EstimeScorer(model=model, device="cpu", window=60, margin=10, distance=4)
        shortest = sorted(make_pairs((2, 9), (0, 20)), key=lambda pair: len(pair[1]))[:6]
        summaries, sources = zip(*shortest, strict=True)
        return scorer.score(summaries, sources)


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
    weight, bias = (torch.randn(*shape).to(dtype) / ins**0.5 for shape in ((outs, ins), (outs,)))
    by_packed, with_gelu = packed(weight, bias), packed(weight, bias, with_gelu=True)
    for states in inputs(ins, dtype):
        expected = linear(states, weight, bias)
        torch.testing.assert_close(by_packed(states), expected, **near)
        torch.testing.assert_close(with_gelu(states), gelu(expected.double()).to(dtype), **near)
    broken = torch.full((1, ins), torch.nan, dtype=dtype)
    assert by_packed(broken).isnan().all()  # `MaskedEncoder` has to see it
    assert with_gelu(broken).isnan().all()


@needs_packing
@pytest.mark.parametrize("model", ["embedded", "embedded-small"])
def test_alarms_are_those_of_the_plain_maps(model: str) -> None:
    result = scored(model)
    with mock.patch.object(own, "VENDORS", ()):
        plain = scored(model)
    assert plain.signature == result.signature
    differ = (result.values("alarms") - plain.values("alarms")).abs()
    assert differ.sum() <= max(result.ties(), plain.ties())
    assert plain.values("alarms").sum() > 0


def test_operators_that_are_slightly_wrong_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_bfloat16(*weights: Tensor, with_gelu: bool = False) -> own.Map:
        exact = packed(*weights, with_gelu=with_gelu)
        return lambda states: exact(states.bfloat16().float())

    monkeypatch.setattr(own, "packed", in_bfloat16)
    assert not can_pack(torch.float32, CPU)


def test_a_version_without_the_operators_is_used_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace())
    assert not can_pack(torch.float32, CPU)
    assert scored("embedded-small").values("alarms").sum() > 0


@needs_packing
def test_what_is_of_no_known_precision_or_not_on_such_a_cpu_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert all(can_pack(dtype, CPU) for dtype in PRECISIONS)
    assert not can_pack(torch.float16, CPU)
    assert not can_pack(torch.float32, torch.device("cuda", 0))
    with monkeypatch.context() as without:
        without.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
        assert not can_pack(torch.float32, CPU)
    monkeypatch.setattr(own, "vendor", lambda: "AnotherVendor")
    assert not can_pack(torch.float32, CPU)


def test_loading_draws_no_random_number() -> None:
    before = torch.get_rng_state()
    with mock.patch.object(store, "STORE", store.EncoderStore()):
        EstimeScorer(model="embedded-small", device="cpu").load()
    assert torch.equal(torch.get_rng_state(), before)
