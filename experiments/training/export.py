"""Write a training checkpoint as the folder of a bundled encoder: configuration, tokenizer, and
weights stored as int8.

    python -m experiments.training.export WORK/checkpoint.pt START OUT --blocks 5 --layer 5
    python -m experiments.training.export WORK/checkpoint.pt START OUT --layer 5 --head

``model="OUT"`` scores with it. Matrices are stored as int8 with one float16 scale for each row, a
quarter of their size in float32; all else in float32.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import torch
from cyclopts import App
from safetensors.torch import save_file
from torch import Tensor
from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoConfig

from experiments.training.data import load_tokenizer

#: The parts of a `Trainee` that are the prediction head -> their names in a BERT.
_HEAD = {"head.": "cls.predictions.transform.", "bias": "cls.predictions.bias"}

#: Rows shorter than this, a table of position biases say, stay as they are.
_LEAST_ROW = 32

#: Shares of a row's largest absolute value that are tried as the largest that int8 reaches.
_SHARES = tuple(1 - step / 200 for step in range(21))
_MOST = 127

#: What ``tokenizer_config.json`` says of the machine on which it was written.
_LOCAL = ("name_or_path", "special_tokens_map_file", "tokenizer_file")

app = App(name="python -m experiments.training.export", help=__doc__, result_action="return_value")


@app.default
def export(
    checkpoint: Path,
    start: Path,
    out: Path,
    *,
    layer: int,
    blocks: int | None = None,
    head: bool = False,
) -> None:
    """Write the folder of an encoder.

    Args:
        checkpoint: Of train.
        start: The folder that the training started from.
        out: Folder to write.
        layer: The layer that ESTIME reads by default.
        blocks: Lowest blocks to keep (default: all that were trained).
        head: Keep the prediction head (BERT only).
    """
    config = AutoConfig.from_pretrained(start)
    family = MODEL_FOR_MASKED_LM_MAPPING[type(config)]
    names = {"body.": f"{family.base_model_prefix}.", **(_HEAD if head else {})}
    kept: dict[str, Tensor] = {}
    trained = 0
    for name, weight in torch.load(checkpoint, map_location="cpu", weights_only=True).items():
        if block := re.match(r"body\.encoder\.layer\.(\d+)\.", name):
            trained = max(trained, int(block[1]) + 1)
            if blocks is not None and int(block[1]) >= blocks:
                continue
        for part, own in names.items():
            if name.startswith(part):
                kept[own + name.removeprefix(part)] = weight
    settings = {
        **config.to_diff_dict(),
        "num_hidden_layers": blocks or trained,
        "estime_layer": layer,
        "dtype": "float32",
        "architectures": [family.__name__],
    }
    settings.pop("_name_or_path", None)
    tokenizer = json.loads((start / "tokenizer_config.json").read_text(encoding="utf-8"))
    tokenizer = {key: value for key, value in tokenizer.items() if key not in _LOCAL}
    out.mkdir(parents=True, exist_ok=True)
    write_int8(kept, out / "model.safetensors")
    load_tokenizer(start).save(str(out / "tokenizer.json"), pretty=False)
    for file, content in (("config.json", settings), ("tokenizer_config.json", tokenizer)):
        (out / file).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """int8 of shape (n, d) and float16 scales of shape (n,): among the scales tried, those with the
    least squared error.
    """
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
    """Writes matrices as int8, all else (norms, biases) in float32;
    `estime_metric.engine.encoder.loading` reads it.
    """
    stored = {}
    for name, weight in weights.items():
        if weight.ndim == 2 and weight.shape[1] >= _LEAST_ROW:
            stored[name], stored[f"{name}.scale"] = quantize(weight)
        else:
            stored[name] = weight.detach().float().contiguous()
    save_file(stored, file, metadata={"format": "pt", "weights": "int8"})
    file.chmod(0o644)  # it is written for its owner alone


if __name__ == "__main__":
    app()
