"""How much goes into a forward pass: the device's default, less where little memory is free or did not suffice."""

from __future__ import annotations

import pytest
import torch
import transformers

from estime_metric.engine.budget import BudgetLimit, bytes_per_position, default_budget

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
    assert default_budget(torch.device("cpu"), 10**12) == 2_000
    assert default_budget(torch.device("meta"), 10**12) == 16_384


def test_bytes_of_a_position() -> None:
    """No less than what a block of BERT holds at once: three times the width for attention, the wide layer twice."""
    config = transformers.BertConfig(hidden_size=1024, num_attention_heads=16, intermediate_size=4096)
    needed = 3 * 1024 + 2 * 4096
    assert 4 * needed < bytes_per_position(config, 4) < 20 * needed
    assert bytes_per_position(config, 2) * 2 == bytes_per_position(config, 4)
    assert bytes_per_position(transformers.PretrainedConfig(hidden_size=256), 4) > 0  # one that says no more


def calls_until_raised(limit: BudgetLimit, budget: int) -> int:
    before, calls = limit.of(budget), 0
    while limit.of(budget) == before:
        limit.settle(budget, ran_out=False)
        calls += 1
    return calls


def test_a_limit_is_lifted_step_by_step() -> None:
    limit = BudgetLimit()
    assert limit.of(1_000) == 1_000
    limit.lower(500)
    limit.lower(250)
    assert limit.settle(1_000, ran_out=True)  # lower than ever: worth a warning
    assert limit.of(1_000) == 250
    assert limit.of(100) == 100
    calls = calls_until_raised(limit, 1_000)
    assert limit.of(1_000) == 500
    assert calls_until_raised(limit, 1_000) == calls
    assert limit.of(1_000) == 1_000


def test_a_budget_that_the_limit_does_not_touch_says_nothing_about_it() -> None:
    limit = BudgetLimit()
    limit.lower(250)
    limit.settle(1_000, ran_out=True)
    for _ in range(1_000):
        limit.settle(200, ran_out=False)
    assert limit.of(1_000) == 250


def test_what_did_not_fit_again_is_tried_more_rarely() -> None:
    limit = BudgetLimit()
    waits = []
    for _ in range(4):
        limit.lower(250)
        limit.settle(1_000, ran_out=True)
        waits.append(calls_until_raised(limit, 1_000))
    assert waits == [waits[0], 2 * waits[0], 4 * waits[0], 8 * waits[0]]


def test_one_warning_for_one_limit() -> None:
    limit = BudgetLimit()
    said = []
    for most in (250, 250, 100, 300):
        limit.lower(most)
        said.append(limit.settle(1_000, ran_out=True))
    assert said == [True, False, True, False]
