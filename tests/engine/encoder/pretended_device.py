"""A device that is not there: its tensors say ``cuda:0`` and calculate on the CPU; operations on
both devices fail.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

DEVICE = torch.device("cuda", 0)

MEMORY = 10**10  # bytes, all of them free

aten = torch.ops.aten

#: Operations that take a tensor from one device to the other.
_MOVES = (aten._to_copy, aten.to, aten.copy_, aten.cpu)

#: Pinning memory does nothing here.
_PINS = (aten.pin_memory, aten._pin_memory)


class Pretended(torch.Tensor):
    """A tensor on the pretended device; ``held`` has its numbers."""

    held: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Pretended:
        made = torch.Tensor._make_wrapper_subclass(  # on "meta" for C++, which would ask for a driver of "cuda"
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device="meta",
            requires_grad=False,
        )
        made.held = held
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return DEVICE

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        return True

    @property
    def is_meta(self) -> bool:  # type: ignore[override]
        return False

    def tolist(self) -> Any:
        return self.held.tolist()

    def __format__(self, style: str) -> str:
        return format(self.tolist(), style)

    def __repr__(self, **_: Any) -> str:
        return f"Pretended({tuple(self.shape)}, {self.dtype})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class PretendedDevice(TorchDispatchMode):
    """While it is entered, ``cuda:0`` is there."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


@contextmanager
def trained_there(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Enters a `PretendedDevice`, on which Lightning then trains."""
    import lightning
    from lightning.pytorch.accelerators import CPUAccelerator
    from lightning.pytorch.strategies import SingleDeviceStrategy

    make_trainer, make_tensor = lightning.Trainer, torch.tensor

    def trainer(**options: Any) -> lightning.Trainer:
        strategy = SingleDeviceStrategy(DEVICE, CPUAccelerator())
        return make_trainer(**{**options, "strategy": strategy, "accelerator": "auto"})

    def tensor(data: Any, **options: Any) -> torch.Tensor:
        return make_tensor(tree_map_only(Pretended, Pretended.tolist, data), **options)

    monkeypatch.setattr(CPUAccelerator, "setup_device", lambda *_: None)
    monkeypatch.setattr(lightning, "Trainer", trainer)
    monkeypatch.setattr(torch, "tensor", tensor)  # C++ would ask "meta" for the numbers in a list
    with pretended_device(monkeypatch):
        yield


@contextmanager
def pretended_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Enters a `PretendedDevice`; torch is kept from looking for a driver."""
    if not torch.cuda.is_available():
        monkeypatch.setattr(torch.cuda, "_lazy_init", lambda: None)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
        monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (MEMORY, MEMORY))
    lifted = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(
        True
    )  # `torch.tensor(..., device=)` is made on the CPU, moved in our sight
    try:
        with PretendedDevice():
            yield
    finally:
        torch._C._set_only_lift_cpu_tensors(lifted)


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    packet = func.overloadpacket
    if packet in _PINS:
        return args[0]
    named = (
        dict(zip((argument.name for argument in func._schema.arguments), args, strict=False))
        | kwargs
    )
    tensors = [
        tensor for tensor in tree_flatten((args, kwargs))[0] if isinstance(tensor, torch.Tensor)
    ]
    there = [tensor for tensor in tensors if isinstance(tensor, Pretended)]
    target = torch.device("cpu") if packet is aten.cpu else named.get("device")
    if target is not None and target.type == "meta" != torch.get_default_device().type:
        target = DEVICE  # as C++ names it; a model is loaded with "meta" as the default
    on_device = bool(there) if target is None else target.type == DEVICE.type
    if packet is aten.copy_:
        on_device = isinstance(args[0], Pretended)
    moved = packet in _MOVES and bool(tensors) and on_device != (len(there) == len(tensors))
    # Positions on the CPU may index a tensor on a GPU, for torch copies them: not in the engine,
    # which would wait.
    in_engine = _calling_module().startswith("estime_metric.engine")
    indexed_by_other = packet in (aten.index, aten.index_put_) and not in_engine
    if not moved and on_device and not indexed_by_other:
        left = [
            tuple(tensor.shape)
            for tensor in tensors
            if not isinstance(tensor, Pretended) and tensor.ndim > 0
        ]
        if left:
            raise RuntimeError(f"{func} on {DEVICE} got tensors on the CPU, of the shapes {left}.")
    if on_device:
        args, kwargs = tree_map_only(
            torch.device, lambda value: torch.device("cpu"), (args, kwargs)
        )
    args, kwargs = tree_map_only(Pretended, lambda value: value.held, (args, kwargs))
    result = func(*args, **{name: value for name, value in kwargs.items() if name != "pin_memory"})
    if moved and packet is not aten.copy_:
        result = result.clone()
    if not on_device:
        return result
    inputs = {
        id(tensor.held): tensor for tensor in there
    }  # operations in place return their inputs
    with torch.inference_mode(False):  # torch keeps count of the versions of views of the weights
        return tree_map_only(
            torch.Tensor,
            lambda tensor: inputs[id(tensor)] if id(tensor) in inputs else Pretended(tensor),
            result,
        )


def _calling_module() -> str:
    """The module of the innermost frame that is neither torch's nor this module's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module != __name__ and module.split(".")[0] != "torch":
            return module
        frame = frame.f_back
    return ""
