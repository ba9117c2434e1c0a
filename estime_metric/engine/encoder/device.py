"""The device: which one it is, numbers that go to it and come back, and what surrounds a calculation
on it.

Nothing that a process has set changes a score: precision, in torch's old interface and the new,
autocast, device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from estime_metric.engine.encoder.forks import threads_for
from estime_metric.engine.encoder.precision import full_precision


def put(values: NDArray[Any] | Tensor, device: torch.device) -> Tensor:
    """Numbers of the host on a device; a GPU reads them from pinned memory and does not wait for
    them.
    """
    tensor = values if isinstance(values, Tensor) else torch.from_numpy(values)
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def put_all(arrays: Sequence[NDArray[Any]], device: torch.device) -> list[Tensor]:
    """One-dimensional arrays of one dtype on a device, in one copy."""
    if not arrays:
        return []
    return list(torch.split(put(np.concatenate(arrays), device), [len(array) for array in arrays]))


def to_host(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of shape (l, n, ...), with equal shapes except for ``n``, on the CPU; they are copied
    from a device together.
    """
    if not tensors or tensors[0].device.type == "cpu":
        return list(tensors)
    sizes = [tensor.shape[1] for tensor in tensors]
    return list(torch.split(torch.cat(list(tensors), dim=1).cpu(), sizes, dim=1))


@contextmanager
def inference_context(device: torch.device) -> Iterator[None]:
    """No gradients, no autocast, float32 products in float32, no attention of cuDNN, new tensors on the
    CPU, whatever the code around has set; `threads_for` the device.

    Of several CUDA devices ``device`` is the one in use, for memory that is pinned too.
    """
    in_use: AbstractContextManager[Any] = nullcontext()
    if device.type == "cuda" and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        in_use = torch.cuda.device(device)
    autocast = torch.autocast(device.type, enabled=False)
    with (
        threads_for(device),
        full_precision(device.type),
        torch.inference_mode(),
        autocast,
        cpu_by_default(),
        in_use,
    ):
        yield


def cpu_by_default() -> AbstractContextManager[Any]:
    """New tensors are on the CPU if no device is named, regardless of the default device."""
    return nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu")


def choose_device(device: str | None) -> torch.device:
    """The device with the given name; for ``None`` a CUDA device if there is one, otherwise the
    CPU. `ValueError` if no device has the name, or this machine does not have the device.
    """
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise ValueError(
            f"Expected argument `device` to name a torch device, such as cpu, cuda, cuda:1 or mps, "
            f"but got {device!r}."
        ) from error
    number = _number_of(chosen.type)
    if number == 0:
        is_for_cpu = (
            chosen.type == "cuda" and torch.version.cuda is None and torch.version.hip is None
        )
        reason = "this PyTorch is a build for the CPU" if is_for_cpu else "PyTorch finds none"
        raise ValueError(
            f"Expected argument `device` to be a device of this machine, but got {device!r}: {reason}."
        )
    if chosen.type == "cuda" and chosen.index is not None and chosen.index >= number:
        raise ValueError(
            f"Expected argument `device` to be one of the {number} GPUs of this machine, numbered "
            f"from 0, but got {device!r}."
        )
    if chosen.type == "cuda" and chosen.index is None and torch.cuda.is_available():
        return torch.device(
            "cuda", torch.cuda.current_device()
        )  # "cuda" and "cuda:0" are one device
    return chosen


def _number_of(kind: str) -> int:
    """How many devices of a kind this machine has; one is assumed of kinds that are not known here."""
    if kind == "cuda":
        return torch.cuda.device_count()
    if kind == "mps":
        return int(torch.backends.mps.is_available())
    return 0 if kind == "meta" else 1  # tensors of "meta" have no values
