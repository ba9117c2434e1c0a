"""Scores do not depend on precision, autocast and devices that a process has set; what was set
stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric.engine.encoder import precision, store
from estime_metric.engine.encoder.device import inference_context
from estime_metric.engine.encoder.precision import are_finite, full_precision, warn_where_slower
from tests.command import run_python

CPU = torch.device("cpu")


@pytest.mark.skipif(not hasattr(torch.backends, "fp32_precision"), reason="torch before 2.9")
def test_overlapping_calls_leave_the_setting_of_the_user() -> None:
    """Of two threads the first to enter is the first to leave, while the second is still inside."""
    setting = torch.backends.mkldnn.matmul
    before = setting.fp32_precision
    try:
        for of_the_user in ("bf16", "ieee"):
            setting.fp32_precision = of_the_user
            seen = []
            calls = [full_precision("cpu") for _ in range(2)]
            with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
                for thread, call in zip((first, second), calls, strict=True):
                    thread.submit(call.__enter__).result()
                    seen.append(setting.fp32_precision)
                for thread, call in zip((first, second), calls, strict=True):
                    thread.submit(call.__exit__, None, None, None).result()
                    seen.append(setting.fp32_precision)
            assert seen == ["ieee"] * 3 + [of_the_user]
    finally:
        setting.fp32_precision = before


def test_a_gpu_needs_one_thread_of_the_cpu() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for kind, threads in (("cuda", 1), ("cpu", 2)):
            with inference_context(torch.device(kind)):
                assert torch.get_num_threads() == threads
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_attention_of_cudnn_is_off_in_a_call_for_a_gpu_alone() -> None:
    for kind, is_on in (("cuda", False), ("cpu", True)):
        with inference_context(torch.device(kind)):
            assert torch.backends.cuda.cudnn_sdp_enabled() is is_on
        assert torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)  # by the user
    try:
        with inference_context(torch.device("cuda")):
            pass
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)


@pytest.mark.skipif(not hasattr(torch.backends, "fp32_precision"), reason="torch before 2.9")
def test_what_was_inherited_is_inherited_again_and_what_was_set_stays_set() -> None:
    """A parent is changed after the scoring: all settings are as if nothing had been scored. In
    another process, because torch's old interface raises once the new one was used.
    """
    script = """
        import contextlib, itertools
        import torch
        from estime_metric.engine.encoder.device import inference_context

        backends = torch.backends
        parents = backends, backends.cudnn
        children = backends.mkldnn.matmul, backends.mkldnn.conv, backends.cuda.matmul, backends.cudnn.conv
        everything = *parents, backends.mkldnn, *children, backends.mkldnn.rnn, backends.cudnn.rnn

        def read(settings):
            return [setting.fp32_precision for setting in settings]

        def values(changes, scored):
            for setting in (*children, *parents):
                setting.fp32_precision = "none"
            seen = []
            for setting, value in changes:
                setting.fp32_precision = value
                for device in ("cpu", "cuda") if scored else ():
                    with inference_context(torch.device(device)):
                        products = children[:2] if device == "cpu" else children[2:]
                        assert set(read(products)) <= {"ieee", "none"}, (device, read(products))
                seen.append(read(everything))
            return seen

        number = 0
        for first, second in itertools.product((*parents, *children), repeat=2):
            for value, later, parent in itertools.product(("tf32", "ieee"), ("tf32", "none"), parents):
                changes = (first, value), (second, later), (parent, "ieee"), (parent, "none")
                assert values(changes, True) == values(changes, False), (number, value, later)
                number += 1
        print(number)
    """
    assert run_python(script).stdout == "288\n"


def test_of_several_cuda_devices_the_right_one_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[torch.device] = []

    @contextmanager
    def use(device: torch.device) -> Iterator[None]:
        used.append(device)
        yield

    monkeypatch.setattr(torch.cuda, "device", use)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    with inference_context(torch.device("cuda", 1)):
        assert used == []  # nothing of CUDA is begun by this
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with inference_context(torch.device("cuda", 1)), inference_context(CPU):
        assert used == [torch.device("cuda", 1)]


def test_the_default_device_changes_nothing(
    bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device on which nothing can be calculated: what is made there by mistake fails."""
    summaries, sources = ["The cat sat.", ""], ["The cat sat on the mat.", "The dog."]

    def scored() -> list[float]:
        monkeypatch.setattr(store, "STORE", store.EncoderStore())  # loaded anew
        scorer = EstimeScorer(
            model=bert_folder, device="cpu", measures=("soft", "coherence"), cache=10**6
        )
        values = [scorer.score(summaries, sources).values("soft") for _ in range(2)]
        scorer.explain(summaries[0], sources[0])
        return torch.cat(values).nan_to_num().tolist()

    expected = scored()
    torch.set_default_device("meta")
    try:
        assert scored() == expected
        assert torch.zeros(1).device.type == "meta"  # still set
    finally:
        torch.set_default_device(None)


def test_an_error_inside_restores_the_settings() -> None:
    before, cast = torch.get_float32_matmul_precision(), torch.is_autocast_enabled("cuda")
    torch.set_float32_matmul_precision("medium")
    torch.set_autocast_enabled("cuda", True)
    try:
        with pytest.raises(KeyError), inference_context(CPU):
            raise KeyError
        assert torch.get_float32_matmul_precision() == "medium"
        with inference_context(torch.device("cuda", 0)):
            assert not torch.is_autocast_enabled("cuda")
        assert torch.is_autocast_enabled("cuda")
    finally:
        torch.set_float32_matmul_precision(before)
        torch.set_autocast_enabled("cuda", cast)


@pytest.mark.parametrize(
    ("dtype", "is_fast", "number"),
    [("bfloat16", False, 1), ("bfloat16", True, 0), ("float16", True, 1), ("float32", False, 0)],
)
def test_a_slower_precision_is_warned_of(
    dtype: str, is_fast: bool, number: int, monkeypatch: pytest.MonkeyPatch, recwarn
) -> None:
    monkeypatch.setattr(precision, "is_fast_in_bfloat16", lambda: is_fast)
    warn_where_slower(getattr(torch, dtype))
    assert len(recwarn) == number
    assert all(f"dtype='{dtype}' is slower than float32" in str(w.message) for w in recwarn)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_one_number_that_is_not_finite_is_found(dtype: torch.dtype, value: float) -> None:
    info = torch.finfo(dtype)
    values = torch.zeros(2, 3, 333, dtype=dtype)
    values[0, 0, :2] = torch.tensor([info.min, info.max])
    assert are_finite(values)
    assert are_finite(values[:, :0])
    for place in ((0, 0, 0), (1, 1, 50), (1, 2, 332)):
        spoilt = values.clone()
        spoilt[place] = value
        assert not are_finite(spoilt)
