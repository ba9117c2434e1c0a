"""Precision: the dtype, products in full precision whatever the process has set, what counts as
rounding, and whether numbers are finite.
"""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor

from estime_metric.config import AUTO
from estime_metric.engine.encoder.processor import is_fast_in_bfloat16

#: The largest difference between two hidden states that counts as rounding, as a fraction of their
#: length. In bfloat16, rounding changes the bundled encoder's states by 2%, and an ignored mask by
#: half.
_ROUNDING, _ROUNDING_OF_LOWER_PRECISION = 1e-3, 0.1

#: Precisions of products that lose nothing; products in "none" are in float32 too.
_FULL = ("none", "ieee")

# The settings belong to the process: calls that overlap share one change, so none leaves another's
# setting behind.
_LOCK = threading.Lock()
_INSIDE: dict[str, int] = defaultdict(int)  # by type of device
_BEFORE: dict[str, list[Callable[[], None]]] = {}


@contextmanager
def full_precision(device_type: str) -> Iterator[None]:
    """Holds the settings of a device at full precision, and cuDNN's attention off, while somebody is
    inside, and restores them after the last.
    """
    with _LOCK:
        if not _INSIDE[device_type]:
            _BEFORE[device_type] = _raise(device_type) + _without_cudnn_attention(device_type)
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


def _without_cudnn_attention(device_type: str) -> list[Callable[[], None]]:
    """Turns off cuDNN's attention. It plans each new shape of a batch on the host, which takes longer
    than the attention; PyTorch prefers it on some GPUs in 16 bits, and has other fast kernels.
    """
    if device_type != "cuda" or not torch.backends.cuda.cudnn_sdp_enabled():  # type: ignore[no-untyped-call]
        return []
    torch.backends.cuda.enable_cudnn_sdp(False)
    return [partial(torch.backends.cuda.enable_cudnn_sdp, True)]


def choose_dtype(dtype: str, device: torch.device) -> str:
    """The name of a dtype; for ``"auto"`` bfloat16 if the device is fast in it, otherwise float32."""
    if dtype != AUTO:
        return dtype
    if device.type == "cpu":
        lower = is_fast_in_bfloat16()
    elif device.type == "cuda" and torch.cuda.is_available():
        with torch.cuda.device(device):
            lower = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        lower = False
    return "bfloat16" if lower else "float32"


def are_near(states: Tensor, expected: Tensor) -> bool:
    """Whether hidden states of shape (r, d) agree except for rounding, by the length of their difference
    at each position. NaN and infinity count as equal: `MaskedEncoder` refuses them by name.
    """
    most = _ROUNDING if expected.dtype == torch.float32 else _ROUNDING_OF_LOWER_PRECISION
    states, expected = states.float().nan_to_num(), expected.float().nan_to_num()
    difference = (states - expected).norm(dim=-1)
    return bool((difference <= most * expected.norm(dim=-1).clamp(min=1)).all())


def are_finite(values: Tensor) -> bool:
    """Whether no number is NaN or infinite, without a copy of them; true of none."""
    if not values.numel():
        return True
    low, high = torch.aminmax(values)  # both are NaN if a number is
    return bool((low > -torch.inf) & (high < torch.inf))


def warn_where_slower(dtype: torch.dtype) -> None:
    """Warns of a lower precision that CPUs rarely multiply as fast as float32."""
    if dtype == torch.float32 or (dtype == torch.bfloat16 and is_fast_in_bfloat16()):
        return
    name = str(dtype).removeprefix("torch.")
    warnings.warn(
        f"dtype={name!r} is slower than float32 on most processors that have no instructions for it.",
        RuntimeWarning,
        stacklevel=2,
    )
