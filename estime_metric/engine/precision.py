"""Nothing that a process has set changes a score: precision, in torch's old interface and the new, autocast, device."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import torch

#: The product that is timed, and how often.
_SIZE = 512
_TRIALS = 5

#: Where torch has a setting for each backend (since 2.9), the settings that reach a device's products.
_SETTINGS = {"cuda": (("cuda", "matmul"), ("cudnn", "conv")), "cpu": (("mkldnn", "matmul"), ("mkldnn", "conv"))}


class _FullPrecision:
    """Holds the settings of a device at full precision while somebody is inside, and restores them after the last.

    The settings belong to the process: calls that overlap share one guard, so none leaves another's setting behind.
    """

    def __init__(self, device_type: str) -> None:
        self._type = device_type
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[tuple[Any, str]] = []
        self._legacy: str | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._raise()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()

    def _raise(self) -> None:
        if hasattr(torch.backends, "fp32_precision"):
            settings: list[Any] = [getattr(getattr(torch.backends, a), b) for a, b in _SETTINGS.get(self._type, ())]
            self._before = [(one, one.fp32_precision) for one in settings if one.fp32_precision not in ("none", "ieee")]
            for setting, _ in self._before:
                setting.fp32_precision = "ieee"
        else:
            self._legacy = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision("highest")

    def _restore(self) -> None:
        for setting, precision in self._before:
            setting.fp32_precision = precision
        self._before = []
        if self._legacy is not None:
            torch.set_float32_matmul_precision(self._legacy)
            self._legacy = None


_GUARDS: dict[str, _FullPrecision] = {}
_GUARDS_LOCK = threading.Lock()


@contextmanager
def inference_context(device: torch.device) -> Iterator[None]:
    """No gradients, no autocast, and float32 products in float32, whatever the code around has set.

    New tensors are on the CPU where no device is named, and of several CUDA devices ``device`` is the one in use, for
    memory that is pinned too.
    """
    with _GUARDS_LOCK:
        guard = _GUARDS.setdefault(device.type, _FullPrecision(device.type))
    autocast = torch.autocast(device.type, enabled=False)
    with guard, torch.inference_mode(), autocast, cpu_by_default(), _in_use(device):
        yield


def _in_use(device: torch.device) -> AbstractContextManager[Any]:
    if device.type == "cuda" and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return torch.cuda.device(device)
    return nullcontext()


def cpu_by_default() -> AbstractContextManager[Any]:
    """New tensors are on the CPU where no device is named, whatever default device is set."""
    return nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu")


@cache
def warn_where_slower(dtype: torch.dtype) -> None:
    """Warns, once in a process, where this processor multiplies a lower precision more slowly than float32.

    Some have no instructions for it, or slower ones. It takes some milliseconds.
    """
    if dtype == torch.float32:
        return
    lower, full = (product_speed(torch.ones(_SIZE, _SIZE, dtype=kind)) for kind in (dtype, torch.float32))
    if lower < full:
        name = str(dtype).removeprefix("torch.")
        warnings.warn(
            f"dtype={name!r} is slower than float32 on this processor: a product of two matrices runs at "
            f"{lower:.0f} GFLOP/s in {name} and at {full:.0f} in float32.",
            RuntimeWarning,
            stacklevel=2,
        )


def product_speed(matrix: torch.Tensor) -> float:
    """GFLOP/s of the product of a square matrix with itself, the best of a few."""
    _ = matrix @ matrix  # what is made at the first call
    seconds = []
    for _ in range(_TRIALS):
        start = time.perf_counter()
        _ = matrix @ matrix
        seconds.append(time.perf_counter() - start)
    return 2e-9 * len(matrix) ** 3 / min(seconds)
