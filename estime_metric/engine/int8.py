"""Weights on disk as int8 with one float16 scale for each row: a quarter of their size in float32."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

#: What a file's metadata says of such weights.
_METADATA = {"format": "pt", "weights": "int8"}
_SCALE = ".scale"

#: Rows shorter than this, a table of position biases say, stay as they are.
_LEAST = 32

#: Shares of a row's largest absolute value that are tried as the largest that int8 reaches.
_SHARES = tuple(1 - step / 200 for step in range(21))
_MOST = 127


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """int8 of shape (n, d) and float16 scales of shape (n,): of the scales tried, those of least squared error."""
    weight = weight.detach().float()
    largest = weight.abs().amax(dim=1)
    least = torch.full_like(largest, torch.inf)
    chosen = torch.ones_like(largest)
    for share in _SHARES:
        scale = (largest * share / _MOST).half().float()
        scale = scale.where(scale > 0, torch.ones(()))
        error = (weight - _codes(weight, scale) * scale[:, None]).square().sum(dim=1)
        chosen, least = chosen.where(error >= least, scale), least.minimum(error)
    return _codes(weight, chosen).to(torch.int8), chosen.half()


def _codes(weight: Tensor, scale: Tensor) -> Tensor:
    return (weight / scale[:, None]).round_().clamp_(-_MOST, _MOST)


def write_int8(weights: Mapping[str, Tensor], file: Path) -> None:
    """Writes matrices as int8, all else (norms, biases) in float32."""
    stored = {}
    for name, weight in weights.items():
        if weight.ndim == 2 and weight.shape[1] >= _LEAST:
            stored[name], stored[name + _SCALE] = quantize(weight)
        else:
            stored[name] = weight.detach().float().contiguous()
    save_file(stored, file, metadata=_METADATA)


def read_int8(file: Path, dtype: torch.dtype) -> dict[str, Tensor] | None:
    """The weights of a file that `write_int8` wrote, in a dtype; ``None`` for any other file."""
    weights = {}
    with safe_open(file, framework="pt") as stored:
        if (stored.metadata() or {}).get("weights") != _METADATA["weights"]:
            return None
        for name in stored.keys():  # noqa: SIM118 - no dict
            weight = stored.get_tensor(name)
            if weight.dtype == torch.int8:
                weight = weight.float().mul_(stored.get_tensor(name + _SCALE).float()[:, None])
            if not name.endswith(_SCALE):
                weights[name] = weight.to(dtype)
    return weights
