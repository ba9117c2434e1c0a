"""Linear maps whose weights lie in memory as the CPU's matrix product wants them.

PyTorch multiplies plain weights with a general routine and rearranges those of lower precision anew at every call.
oneDNN, which comes with it, can take weights that are rearranged once, and apply GELU before the product leaves the
caches.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

#: Where this does not work, on other devices, dtypes and builds, the model stays as it is.
_DTYPES = (torch.float32, torch.bfloat16)

#: The two caches of kernels: oneDNN's own, and that of the layer between it and PyTorch.
_KERNEL_LIMITS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
_KERNELS_KEPT = 64


class PackedLinear(nn.Module):
    """An ``nn.Linear`` for inference on a CPU, with GELU after it where asked for.

    Args:
        linear: whose weights are taken over; it is of no further use.
        gelu: apply GELU (the exact one, by the error function) to the product.
    """

    def __init__(self, linear: nn.Linear, gelu: bool = False) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.activation = "gelu" if gelu else "none"
        packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach())
        self.weight = nn.Parameter(packed, requires_grad=False)
        self.bias = None if linear.bias is None else nn.Parameter(linear.bias.detach(), requires_grad=False)

    def forward(self, states: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            states, self.weight, self.bias, self.activation, [], "none" if self.activation == "gelu" else ""
        )
        return product


def pack_linears(model: nn.Module) -> None:
    """Puts a `PackedLinear` in the place of each linear map of a model that is on the CPU, one after the other.

    Where a block has the parts ``dense`` and ``intermediate_act_fn``, as BERT's have, and the latter is GELU, the two
    become one. Nothing happens where the build, the device or the dtype does not allow it.
    """
    for name, child in list(model.named_children()):
        if type(child) is not nn.Linear:
            pack_linears(child)
        elif _packable(child.weight):
            gelu = name == "dense" and _is_gelu(getattr(model, "intermediate_act_fn", None))
            setattr(model, name, PackedLinear(child, gelu).train(child.training))
            if gelu:
                model.intermediate_act_fn = nn.Identity().train(child.training)


def _packable(weight: Tensor) -> bool:
    return weight.device.type == "cpu" and weight.dtype in _DTYPES and _works(weight.dtype) and _pays(weight.dtype)


def _is_gelu(activation: Any) -> bool:
    """Whether it is GELU by the error function, tried on numbers."""
    if not isinstance(activation, nn.Module):
        return False
    numbers = torch.linspace(-4, 4, 33, dtype=torch.float32)
    return torch.allclose(activation(numbers), nn.functional.gelu(numbers), rtol=1e-6, atol=1e-6)


@cache
def _pays(dtype: torch.dtype) -> bool:
    """Whether this processor multiplies packed weights faster than plain ones, tried on a product of some size."""
    with torch.random.fork_rng(devices=[]):
        linear = nn.Linear(512, 512, dtype=dtype).requires_grad_(False)
    states = torch.ones(256, 512, dtype=dtype)
    plain, packed = (_seconds(one, states) for one in (linear, PackedLinear(linear)))
    return packed < plain


def _seconds(linear: nn.Module, states: Tensor) -> float:
    """Time of a product, the best of a few."""
    linear(states)  # what is made at the first call
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        linear(states)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


@contextmanager
def few_kernels_kept() -> Iterator[None]:
    """Lets oneDNN, where this process uses it for the first time, keep fewer kernels than its thousand.

    It makes one for each shape of a product, of about half a megabyte for the embedded encoder's, and there are as many
    shapes as batches. It reads its limits once; a user's own settings stand.
    """
    own = {name: str(_KERNELS_KEPT) for name in _KERNEL_LIMITS if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


@cache
def _works(dtype: torch.dtype) -> bool:
    """Whether this build and processor have the product, tried on a small one."""
    with torch.random.fork_rng(devices=[]):  # the user's random numbers stay
        linear = nn.Linear(16, 8, dtype=dtype).requires_grad_(False)
    states = torch.linspace(-1, 1, 48, dtype=dtype).view(3, 16)
    near = 1e-5 if dtype == torch.float32 else 3e-2
    try:
        product = PackedLinear(linear)(states)
        return torch.allclose(product, linear(states), rtol=near, atol=near)
    except (AttributeError, RuntimeError):
        return False
