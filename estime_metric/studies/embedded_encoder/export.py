"""Write a training checkpoint as the folder that ships: configuration, tokenizer and weights stored in float16.

    python -m estime_metric.studies.embedded_encoder.export WORK/checkpoint.pt START OUT

`OUT` loads with ``BertForMaskedLM.from_pretrained(OUT)``, in float32 unless asked otherwise; the prediction head is
included, pooler and next-sentence head are not. Files are written beside their final place and renamed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM

from estime_metric.studies.embedded_encoder.data import load_tokenizer


def tokenizer_settings(positions: int) -> dict[str, object]:
    """What ``tokenizer_config.json`` says: an uncased BERT tokenizer of `positions` positions."""
    special = {f"{name.lower()}_token": f"[{name}]" for name in ("UNK", "SEP", "PAD", "CLS", "MASK")}
    return {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "model_max_length": positions,
        **special,
    }


def export(checkpoint: Path, start: Path, out: Path) -> None:
    """Write `checkpoint` with the configuration and tokenizer of `start` into the folder `out`."""
    model = BertForMaskedLM(BertConfig.from_pretrained(start))
    model.load_state_dict(torch.load(checkpoint, weights_only=False)["model"])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as name:
        folder = Path(name)
        model.to(torch.float16).save_pretrained(folder)
        config = json.loads((folder / "config.json").read_text())
        config["dtype"] = "float32"
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        settings = tokenizer_settings(model.config.max_position_embeddings)
        (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
        load_tokenizer(start).save(str(folder / "tokenizer.json"), pretty=False)
        for file in ("config.json", "tokenizer_config.json", "tokenizer.json", "model.safetensors"):
            (folder / file).chmod(0o644)
            shutil.move(folder / file, out / file)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="checkpoint.pt of train.py")
    parser.add_argument("start", type=Path, help="folder the training started from")
    parser.add_argument("out", type=Path, help="folder to write")
    args = parser.parse_args()
    export(args.checkpoint, args.start, args.out)


if __name__ == "__main__":
    main()
