"""On a GPU: what a pretended device cannot show (see ``test_placement``): kernels, order, memory,
settings.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric.engine.encoder.memory import default_budget
from tests.families import SENTENCES

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")

SUMMARIES = [" ".join(SENTENCES[i % 7 : i % 7 + 2]) for i in range(40)]
SOURCES = [" ".join(SENTENCES[i % 3 : i % 3 + 5]) for i in range(40)]


def scorer(folder: str, device: str = "cuda", **options: Any) -> EstimeScorer:
    loaded = EstimeScorer(
        model=folder, device=device, **{"window": 60, "margin": 10, "distance": 4, **options}
    )
    _ = loaded.encoder
    return loaded


def alarms(of: EstimeScorer) -> list[float]:
    return of.score(SUMMARIES, SOURCES).values("alarms").tolist()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("unit", ["token", "word"])
def test_alarms_are_those_of_the_cpu(bert_folder: str, unit: str, dtype: str) -> None:
    there, here = (
        alarms(scorer(bert_folder, device, unit=unit, dtype=dtype)) for device in ("cuda", "cpu")
    )
    differing = sum(abs(on_cuda - on_cpu) for on_cuda, on_cpu in zip(there, here, strict=True))
    assert differing <= (0.01 if dtype == "float32" else 0.1) * sum(here)
    assert sum(here) > 0


def test_tf32_and_autocast_change_nothing(bert_folder: str) -> None:
    expected = alarms(scorer(bert_folder))
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with torch.autocast("cuda", dtype=torch.float16):
            assert alarms(scorer(bert_folder)) == expected
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_many_pairs_wait_as_often_as_one(bert_folder: str) -> None:
    loaded = scorer(bert_folder)
    alarms(loaded)
    counts = []
    before = torch.cuda.get_sync_debug_mode()
    for some in (1, len(SUMMARIES)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            try:
                loaded.score(SUMMARIES[:some], SOURCES[:some])
            finally:
                torch.cuda.set_sync_debug_mode(before)
        # PyTorch's first warning in a process says what this mode is.
        counts.append(sum("called a synchronizing" in str(warning.message) for warning in caught))
    assert 1 <= counts[0] == counts[1] <= 3


def test_another_model_leaves_less(bert_folder: str) -> None:
    device = scorer(bert_folder).encoder.device
    free, _ = torch.cuda.mem_get_info(device)
    per_position = free // 100_000
    alone = default_budget(device, per_position)
    taken = torch.empty(free // 2, dtype=torch.uint8, device=device)
    assert default_budget(device, per_position) < 0.7 * alone
    del taken
