"""int8 weights: near what they were, and read back in every precision."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from estime_metric import EncoderUnavailableError
from estime_metric.engine.int8 import quantize, read_int8, write_int8
from estime_metric.engine.loading import load_pretrained


def test_the_scale_of_a_row_is_better_than_its_largest_value() -> None:
    weight = torch.randn(50, 200, generator=torch.Generator().manual_seed(0)) * torch.logspace(-4, 1, 50)[:, None]
    weight[7] = 0
    codes, scale = quantize(weight)
    assert (codes.dtype, scale.dtype, scale.shape) == (torch.int8, torch.float16, (50,))
    error = (codes.float() * scale.float()[:, None] - weight).square().sum(1)
    largest = (weight.abs().amax(1) / 127).half().float().clamp(min=1e-20)
    plain = ((weight / largest[:, None]).round().clamp(-127, 127) * largest[:, None] - weight).square().sum(1)
    assert (error <= plain).all()
    assert error.sum() < 0.99 * plain.sum()
    assert (error.sqrt() <= 0.01 * weight.norm(dim=1)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_folder_of_int8_weights_loads(bert_folder: str, tmp_path: Path, dtype: torch.dtype) -> None:
    folder = Path(shutil.copytree(bert_folder, tmp_path / "copy"))
    whole = load_file(folder / "model.safetensors")
    assert read_int8(folder / "model.safetensors", dtype) is None
    write_int8(whole, folder / "model.safetensors")
    assert (folder / "model.safetensors").stat().st_size < 0.35 * Path(bert_folder, "model.safetensors").stat().st_size
    loaded, plain = (load_pretrained(str(path), None, dtype) for path in (folder, bert_folder))
    assert loaded.info.revision != plain.info.revision
    for name, weight in plain.headed.state_dict().items():
        found = loaded.headed.state_dict()[name]
        assert found.dtype == dtype
        assert (found - weight).norm() <= 0.015 * (weight.ndim > 1) * weight.norm(), name
    missing = {name: weight for name, weight in whole.items() if "layer.2." not in name}
    write_int8(missing, folder / "model.safetensors")
    with pytest.raises(ValueError, match="lacks 16 of its weights"):
        load_pretrained(str(folder), None, dtype)
    shutil.copy(folder / "config.json", folder / "model.safetensors")
    with pytest.raises(EncoderUnavailableError, match="cannot be loaded"):
        load_pretrained(str(folder), None, dtype)
