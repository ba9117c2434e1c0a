"""Scores do not hang on the precision that a process has set, in either interface; what was set stays."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import warnings

import pytest
import torch

from estime_metric.engine import precision
from estime_metric.engine.precision import inference_context

CPU = torch.device("cpu")

new_interface = pytest.mark.skipif(not hasattr(torch.backends, "fp32_precision"), reason="torch before 2.9")


@new_interface
def test_scores_after_the_new_interface_was_used() -> None:
    """In a process of its own: once the new interface was used, the old one raises for good."""
    script = textwrap.dedent("""
        import torch
        from estime_metric import EstimeScorer
        scorer = EstimeScorer(model="embedded", device="cpu")
        source = "A cat slept in the sun while a dog barked at the gate."
        for setting in (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul, torch.backends):
            for value in ("tf32", "ieee"):
                setting.fp32_precision = value
                print(scorer.score(["A dog slept."], [source]).values("winners").item())
                assert setting.fp32_precision == value, (setting, value)
                setting.fp32_precision = "none"
    """)
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    scores = run.stdout.split()
    assert len(scores) == 6
    assert len(set(scores)) == 1


@new_interface
def test_overlapping_calls_leave_the_setting_of_the_user() -> None:
    """The first to enter is the first to leave, while the second is still inside."""
    matmul = torch.backends.mkldnn.matmul
    before = matmul.fp32_precision
    matmul.fp32_precision = "bf16"
    second_is_in, first_is_out = threading.Event(), threading.Event()
    seen: list[str] = []

    def second() -> None:
        with inference_context(CPU):
            second_is_in.set()
            assert first_is_out.wait(20)
            seen.append(matmul.fp32_precision)

    thread = threading.Thread(target=second)
    try:
        with inference_context(CPU):
            thread.start()
            assert second_is_in.wait(20)
            seen.append(matmul.fp32_precision)
        first_is_out.set()
        thread.join()
        seen.append(matmul.fp32_precision)
    finally:
        matmul.fp32_precision = before
    assert seen == ["ieee", "ieee", "bf16"]


def test_an_error_inside_restores_the_setting() -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(KeyError), inference_context(CPU):
            raise KeyError
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize(("lower", "full"), [(90.0, 170.0), (300.0, 170.0)])
def test_a_lower_precision_that_is_slower_is_said_once(
    monkeypatch: pytest.MonkeyPatch, lower: float, full: float
) -> None:
    speeds = {torch.bfloat16: lower, torch.float32: full}
    monkeypatch.setattr(precision, "product_speed", lambda matrix: speeds[matrix.dtype])
    precision.warn_where_slower.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            precision.warn_where_slower(torch.bfloat16)
    precision.warn_where_slower.cache_clear()
    said = [str(one.message) for one in caught]
    assert len(said) == (lower < full)
    assert all("90 GFLOP/s in bfloat16 and at 170 in float32" in message for message in said)
