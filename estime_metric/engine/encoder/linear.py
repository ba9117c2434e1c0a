"""Linear maps on a CPU by oneDNN, with weights packed once and the GELU within the product.

PyTorch's own linear map multiplies float32 by MKL, which runs AMD processors at less than half of
their speed. oneDNN comes with PyTorch too, and its compiler emits these operators; but they are
private, so they are tried before they are used.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear

from estime_metric.engine.encoder import processor

#: The processors on which linear maps are packed. Measured only on AMD (experiments/speed/README.md). If the
#: processors of a vendor turn out to be slower with it, remove the vendor from this list.
VENDORS = (processor.AMD, processor.INTEL)

#: The largest difference from `linear` that is rounding, for results of about one, by the
#: precisions that are packed. PyTorch multiplies bfloat16 by oneDNN anyway; there packing saves
#: what it costs to bring the weights into oneDNN's layout at each call.
_ROUNDING = {torch.float32: 1e-5, torch.bfloat16: 2**-6}

_ROWS = 2048  # of the products that the layout of the weights is chosen for

_TRIAL = (5, 48, 40)  # rows, inputs and outputs of the product that is tried


class PackedLinear(nn.Module):
    """Stands in for a linear map on a CPU, in inference mode: states of shape (..., in) -> (..., out).

    It has no parameters: the packed weights can neither be saved nor copied. ``with_gelu`` applies
    the exact GELU to the result.
    """

    def __init__(self, plain: nn.Linear, *, with_gelu: bool = False) -> None:
        super().__init__()
        weight = plain.weight.detach().contiguous()
        self._weight: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
        self._bias = None if plain.bias is None else plain.bias.detach()
        self._function, self._algorithm = ("gelu", "none") if with_gelu else ("none", "")

    def forward(self, states: Tensor) -> Tensor:
        """The product, with the bias added."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            states, self._weight, self._bias, self._function, [], self._algorithm
        )
        return product


def can_pack(module: nn.Module, device: torch.device) -> bool:
    """Whether a `PackedLinear` can replace a module on a device.

    A rule of the processor and of PyTorch's version: no clock decides which of the two runs.
    """
    return (
        type(module) is nn.Linear  # not a layer made from it, such as one with an adapter
        and device.type == "cpu"
        and processor.vendor() in VENDORS
        and _works(module.weight.dtype)
    )


@cache
def _works(dtype: torch.dtype) -> bool:
    """Whether the operators are there and calculate what `linear` does; tried once in a process."""
    if dtype not in _ROUNDING:
        return False
    rows, inputs, outputs = _TRIAL
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, device="cpu", dtype=torch.float32)

    plain = nn.Linear(inputs, outputs, device="meta", dtype=dtype)
    plain.weight = nn.Parameter((random(outputs, inputs) / inputs**0.5).to(dtype), False)
    plain.bias = nn.Parameter(random(outputs).to(dtype), False)
    states = random(rows, inputs).to(dtype)
    expected = linear(states, plain.weight, plain.bias)
    try:
        packed = PackedLinear(plain)(states)
        with_gelu = PackedLinear(plain, with_gelu=True)(states)
    except Exception:  # whatever a version without the operators, or with others, raises
        return False
    return _near(packed, expected) and _near(with_gelu, gelu(expected))


def _near(product: Tensor, expected: Tensor) -> bool:
    most = _ROUNDING[expected.dtype]
    return product.dtype == expected.dtype and torch.allclose(
        product, expected, rtol=most, atol=most
    )


def is_gelu(activation: nn.Module) -> bool:
    """Whether an activation is the exact GELU, by its values; others approximate it by a tanh."""
    values = torch.linspace(-6, 6, 1001, device="cpu", dtype=torch.float32)
    return torch.allclose(activation(values), gelu(values), rtol=0, atol=1e-6)
