"""Nothing that a process has set changes a score: precision, in torch's old interface and the new,
autocast, device.
"""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import torch

from estime_metric.config import AUTO
from estime_metric.engine.encoder import processor
from estime_metric.engine.encoder.forks import one_thread_after_fork

#: Precisions of products that lose nothing; products in "none" are in float32 too.
_FULL = ("none", "ieee")

# The settings belong to the process: calls that overlap share one change, so none leaves another's
# setting behind.
_LOCK = threading.Lock()
_INSIDE: dict[str, int] = defaultdict(int)  # by type of device
_BEFORE: dict[str, list[Callable[[], None]]] = {}


@contextmanager
def _full_precision(device_type: str) -> Iterator[None]:
    """Holds the settings of a device at full precision while somebody is inside, and restores them
    after the last.
    """
    with _LOCK:
        if not _INSIDE[device_type]:
            _BEFORE[device_type] = _raise(device_type)
        _INSIDE[device_type] += 1
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE[device_type] -= 1
            if not _INSIDE[device_type]:
                for restore in _BEFORE.pop(device_type):
                    restore()


def _raise(device_type: str) -> list[Callable[[], None]]:
    if not hasattr(torch.backends, "fp32_precision"):  # torch before 2.9
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        return [partial(torch.set_float32_matmul_precision, before)]
    backends: Any = torch.backends
    #: Settings for all backends and for one, then those that reach the products of a device, which
    #: follow the first two unless they were set.
    settings: dict[str, tuple[Any, ...]] = {
        "cuda": (backends, backends.cudnn, backends.cuda.matmul, backends.cudnn.conv),
        "cpu": (backends, backends.mkldnn, backends.mkldnn.matmul, backends.mkldnn.conv),
    }
    restore: list[Callable[[], None]] = []
    chain = settings.get(device_type, ())
    for setting in chain:
        # Reading cannot show whether a value was set or inherited. What still differs once the
        # settings above are at full precision was set, so it may be set again.
        if setting.fp32_precision != "ieee" and any(
            product.fp32_precision not in _FULL for product in chain[2:]
        ):
            restore.insert(0, partial(setattr, setting, "fp32_precision", setting.fp32_precision))
            setting.fp32_precision = "ieee"
    return restore


@contextmanager
def inference_context(device: torch.device) -> Iterator[None]:
    """No gradients, no autocast, float32 products in float32, new tensors on the CPU, whatever the
    code around has set; one thread in a process that was forked.

    Of several CUDA devices ``device`` is the one in use, for memory that is pinned too.
    """
    in_use: AbstractContextManager[Any] = nullcontext()
    if device.type == "cuda" and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        in_use = torch.cuda.device(device)
    autocast = torch.autocast(device.type, enabled=False)
    with (
        one_thread_after_fork(),
        _full_precision(device.type),
        torch.inference_mode(),
        autocast,
        cpu_by_default(),
        in_use,
    ):
        yield


def cpu_by_default() -> AbstractContextManager[Any]:
    """New tensors are on the CPU if no device is named, regardless of the default device."""
    return nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu")


def choose_dtype(dtype: str, device: torch.device) -> str:
    """The name of a dtype; for ``"auto"`` bfloat16 if the device is fast in it, otherwise float32."""
    if dtype != AUTO:
        return dtype
    if device.type == "cpu":
        lower = processor.is_fast_in_bfloat16()
    elif device.type == "cuda" and torch.cuda.is_available():
        with torch.cuda.device(device):
            lower = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        lower = False
    return "bfloat16" if lower else "float32"


def warn_where_slower(dtype: torch.dtype) -> None:
    """Warns of a lower precision that CPUs rarely multiply as fast as float32."""
    if dtype == torch.float32 or (dtype == torch.bfloat16 and processor.is_fast_in_bfloat16()):
        return
    name = str(dtype).removeprefix("torch.")
    warnings.warn(
        f"dtype={name!r} is slower than float32 on most processors that have no instructions for it.",
        RuntimeWarning,
        stacklevel=2,
    )
