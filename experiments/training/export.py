"""Write a training checkpoint as the folder of a bundled encoder: configuration, tokenizer, and
weights stored as int8.

    python -m experiments.training.export WORK/checkpoint.pt START OUT --blocks 7 --layer 7
    python -m experiments.training.export WORK/checkpoint.pt START OUT --layer 5 --head

``model="OUT"`` scores with it. Matrices are stored as int8 with one float16 scale for each row, a
quarter of their size in float32; all else in float32.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoConfig, PretrainedConfig

from estime_metric.engine.encoder.loading import load_pretrained
from experiments.training.data import load_tokenizer

#: The parts of a `Trainee` -> names of BERT's prediction head.
_HEAD = {"head.": "cls.predictions.transform.", "bias": "cls.predictions.bias"}

#: Rows shorter than this, a table of position biases say, stay as they are.
_LEAST_ROW = 32

#: Shares of a row's largest absolute value that are tried as the largest that int8 reaches.
_SHARES = tuple(1 - step / 200 for step in range(21))
_MOST = 127

#: What ``tokenizer_config.json`` says of the machine on which it was written.
_LOCAL = ("name_or_path", "special_tokens_map_file", "tokenizer_file")


def export(
    weights: Mapping[str, Tensor],
    config: PretrainedConfig,
    tokenizer_folder: Path,
    out: Path,
    *,
    layer: int,
    blocks: int,
    head: bool = False,
) -> None:
    """Write an encoder into the folder `out`.

    Args:
        weights: of the base model, named as in `transformers` without the family's prefix
            (``embeddings.word_embeddings.weight``); with `head` also the weights of the prediction
            head, under their whole names (``cls.predictions.bias``). Poolers and blocks that are
            excluded may be among them.
        config: its configuration.
        tokenizer_folder: folder of ``tokenizer.json`` and ``tokenizer_config.json``.
        out: where to; each file is written next to its final place and moved.
        layer: the layer that ESTIME reads by default.
        blocks: lowest blocks to keep.
        head: keep the prediction head; its decoder is tied to the input embeddings.

    Raises:
        ValueError: `layer` exceeds `blocks`, or a weight is missing.
    """
    if not 0 <= layer <= blocks:
        raise ValueError(
            f"Expected argument `layer` to be within 0..{blocks}, the blocks kept, but got {layer}."
        )
    family = MODEL_FOR_MASKED_LM_MAPPING[type(config)]
    kept = {}
    for name, weight in weights.items():
        of_head = name.startswith(("cls.", "lm_head."))
        block = re.match(r"encoder\.layer\.(\d+)\.", name)
        if (
            name.startswith("pooler.")
            or (of_head and not head)
            or (block and int(block[1]) >= blocks)
        ):
            continue
        kept[name if of_head else f"{family.base_model_prefix}.{name}"] = weight
    settings = {
        **config.to_diff_dict(),
        "num_hidden_layers": blocks,
        "estime_layer": layer,
        "dtype": "float32",
        "architectures": [family.__name__],
    }
    tokenizer = json.loads((tokenizer_folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as name:
        folder = Path(name)
        write_int8(kept, folder / "model.safetensors")
        for file, content in (
            (
                "config.json",
                {key: value for key, value in settings.items() if key != "_name_or_path"},
            ),
            (
                "tokenizer_config.json",
                {key: value for key, value in tokenizer.items() if key not in _LOCAL},
            ),
        ):
            (folder / file).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        load_tokenizer(tokenizer_folder).save(str(folder / "tokenizer.json"), pretty=False)
        if load_pretrained(name, None, torch.float32).headed is None and head:
            raise ValueError(
                "Expected argument `weights` to contain the prediction head, but part of it is missing."
            )
        for path in list(folder.iterdir()):
            path.chmod(0o644)
            shutil.move(path, out / path.name)


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


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint of `train`, named as in `export`; the head is assumed to be
    BERT's.
    """
    named = {}
    for name, weight in torch.load(path, map_location="cpu", weights_only=True)["model"].items():
        part = next((part for part in _HEAD if name.startswith(part)), None)
        named[
            name.removeprefix("body.") if part is None else _HEAD[part] + name.removeprefix(part)
        ] = weight
    return named


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` replace the arguments of the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path, help="checkpoint.pt of train.py")
    parser.add_argument("start", type=Path, help="folder the training started from")
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument(
        "--blocks", type=int, help="lowest blocks to keep (default: all that were trained)"
    )
    parser.add_argument(
        "--layer", type=int, required=True, help="the layer that is read by default"
    )
    parser.add_argument("--head", action="store_true", help="keep the prediction head (BERT only)")
    options = parser.parse_args(arguments)
    weights = read_checkpoint(options.checkpoint)
    blocks = {int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer.")}
    export(
        weights,
        AutoConfig.from_pretrained(options.start),
        options.start,
        options.out,
        layer=options.layer,
        blocks=options.blocks or len(blocks),
        head=options.head,
    )


if __name__ == "__main__":
    main()
