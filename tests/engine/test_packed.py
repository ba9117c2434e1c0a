"""Packed linear maps: the same numbers as plain ones, whatever the shapes; taken only where they work."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from torch import nn

from estime_metric.engine import packed as packed_module
from estime_metric.engine.packed import PackedLinear, pack_linears
from tests.engine.test_blocks import batch, whole
from tests.engine.test_encoder import LAYERS, TEXTS, get, masked_texts
from tests.families import FAMILIES

NEAR = {torch.float32: 1e-5, torch.bfloat16: 2e-2}

#: A processor or build without the packed product has nothing to test here but that all stays as it is.
needs_packing = pytest.mark.skipif(not packed_module._works(torch.float32), reason="no packed product in this build")


@pytest.fixture(autouse=True)
def _taken_whether_it_pays_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_module, "_pays", lambda dtype: True)


@needs_packing
def test_plain_weights_stay_where_they_are_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_module, "_pays", lambda dtype: False)
    model = nn.Sequential(nn.Linear(4, 4))
    pack_linears(model)
    assert type(model[0]) is nn.Linear


@needs_packing
@pytest.mark.parametrize("dtype", list(NEAR))
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 24), (7, 24), (3, 50, 24), (1000, 24)])
@torch.inference_mode()
def test_products_are_those_of_the_plain_map(shape: tuple[int, ...], bias: bool, dtype: torch.dtype) -> None:
    linear = nn.Linear(24, 40, bias=bias, dtype=dtype).requires_grad_(False)
    states = torch.randn(shape).to(dtype)
    exact = nn.functional.linear(states.double(), linear.weight.double(), linear.bias.double() if bias else None)
    for found, expected in (
        (PackedLinear(linear)(states), exact),
        (PackedLinear(linear, gelu=True)(states), nn.functional.gelu(exact)),
    ):
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, rtol=NEAR[dtype], atol=NEAR[dtype])


@needs_packing
@torch.inference_mode()
def test_a_packed_encoder_gives_the_same_hidden_states(family: str, folder: str) -> None:
    ids, attended = batch()
    mask = attended.long()
    expected = whole(folder)(input_ids=ids, attention_mask=mask).last_hidden_state
    model = whole(folder)
    linears = [module for module in model.modules() if type(module) is nn.Linear]
    numbers = sum(weight.numel() for weight in model.parameters())
    pack_linears(model)
    packed = [module for module in model.modules() if isinstance(module, PackedLinear)]
    assert len(packed) == len(linears) > 0
    assert sum(weight.numel() for weight in model.parameters()) == numbers
    assert not any(module.training for module in model.modules())
    found = model(input_ids=ids, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(found[attended], expected[attended], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [kind for kind in FAMILIES if kind != "deberta"])  # `transformers` fails with that one
def test_in_bfloat16_it_is_near_float32(kind: str, encoder_folder: Callable[[str], str]) -> None:
    folder = encoder_folder(kind)
    exact, lower = get(folder), get(folder, dtype="bfloat16")
    texts = masked_texts(exact, TEXTS[:2])
    for one, another in zip(lower.encode(texts, LAYERS), exact.encode(texts, LAYERS), strict=True):
        similar = torch.nn.functional.cosine_similarity(one.float(), another, dim=-1)
        assert similar.mean() > 0.99


@needs_packing
def test_gelu_joins_the_product_and_no_other_activation_does(bert_folder: str) -> None:
    for activation, joined in (("gelu", True), ("relu", False), ("gelu_new", False)):
        config = transformers.AutoConfig.from_pretrained(bert_folder, hidden_act=activation)
        model = transformers.AutoModel.from_config(config)
        pack_linears(model)
        kinds = {module.activation for module in model.modules() if isinstance(module, PackedLinear)}
        assert kinds == ({"gelu", "none"} if joined else {"none"})


@needs_packing
def test_the_plain_weights_are_freed() -> None:
    model = nn.Sequential(nn.Linear(8, 8))
    weight = weakref.ref(model[0].weight)
    pack_linears(model)
    gc.collect()
    assert weight() is None


def test_what_cannot_be_packed_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for model in (nn.Sequential(nn.Linear(4, 4, dtype=torch.float64)), nn.Sequential(nn.Linear(4, 4, device="meta"))):
        linear = model[0]
        pack_linears(model)
        assert model[0] is linear
    monkeypatch.setattr(packed_module, "_works", lambda dtype: False)
    model = nn.Sequential(nn.Linear(4, 4))
    pack_linears(model)
    assert type(model[0]) is nn.Linear


@pytest.mark.slow
@needs_packing
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to read the memory of a process")
def test_memory_does_not_grow_with_the_number_of_shapes() -> None:
    script = textwrap.dedent("""
        import resource
        from pathlib import Path
        from estime_metric import EstimeScorer
        from estime_metric.engine import packed
        from estime_metric.engine.memory import return_memory

        packed._pays = lambda dtype: True

        def memory():
            return_memory()
            return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6

        scorer = EstimeScorer(model="embedded", layers=1, device="cpu")
        words = ["cat"] * 400

        def score(lengths):
            for length in lengths:
                scorer.score(["a cat"], [" ".join(words[:length])])

        score(range(50, 90))
        before = memory()
        score(range(90, 170))
        print(memory() - before)
    """)
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(run.stdout) < 50, run.stdout  # MB; as many kernels as shapes take 100 and more
