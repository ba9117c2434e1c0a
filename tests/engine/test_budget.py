"""How much goes into a forward pass: the device's default, less where little memory is free."""

from __future__ import annotations

import pytest
import torch
import transformers

from estime_metric.engine.memory import bytes_per_position, default_budget

CUDA = torch.device("cuda", 0)
GIGABYTE = 1 << 30


def memory(monkeypatch: pytest.MonkeyPatch, *, free: int, reserved: int = 0, allocated: int = 0) -> None:
    """What CUDA says of its memory."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 80 * GIGABYTE))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: reserved)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: allocated)


@pytest.mark.parametrize(
    ("free", "reserved", "allocated", "expected"),
    [
        (80, 0, 0, 65_536),  # an empty device: the default
        (4, 0, 0, 2 * GIGABYTE // 100_000),  # half of it
        (1, 9, 6, 2 * GIGABYTE // 100_000),  # what torch holds and does not use counts
        (0, 9, 9, 2_000),  # never nothing
    ],
)
def test_a_gpu_gets_no_more_than_half_of_what_is_free(
    monkeypatch: pytest.MonkeyPatch, free: int, reserved: int, allocated: int, expected: int
) -> None:
    memory(
        monkeypatch, free=free * GIGABYTE, reserved=reserved * GIGABYTE, allocated=allocated * GIGABYTE
    )  # fmt: skip
    assert default_budget(CUDA, 100_000) == expected


def test_elsewhere_memory_is_not_asked_for() -> None:
    assert [default_budget(torch.device(name), 10**12) for name in ("cpu", "meta")] == [2_000, 16_384]


def test_bytes_of_a_position() -> None:
    """No less than what a block of BERT holds at once: three times the width for attention, the wide layer twice."""
    config = transformers.BertConfig(hidden_size=1024, num_attention_heads=16, intermediate_size=4096)
    needed = 3 * 1024 + 2 * 4096
    assert 4 * needed < bytes_per_position(config, 4) < 20 * needed
    assert bytes_per_position(config, 2) * 2 == bytes_per_position(config, 4)
    assert bytes_per_position(transformers.PretrainedConfig(hidden_size=256), 4) > 0  # one that says no more
