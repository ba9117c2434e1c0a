"""The training runs, and what it exports is an encoder; the rows of the bundled encoders are those that
the export writes.
"""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from estime_metric import EstimeScorer, embedded
from estime_metric.engine.encoder.loading import load_pretrained
from experiments.training import export, train
from experiments.training.data import held_out
from tests.families import SENTENCES, save_encoder

STEPS = 5


@pytest.fixture(params=["bert", "mpnet"])
def folders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A corpus of ten documents to train on and one set aside, and a tiny encoder."""
    corpus, start = (tmp_path_factory.mktemp(name) for name in ("corpus", "start"))
    rng = random.Random(0)
    texts = [" ".join(rng.choices(SENTENCES, k=40)) for _ in range(400)]
    aside = [text for text in texts if held_out(text)][:1]
    assert aside
    rows = [*[text for text in texts if not held_out(text)][:10], *aside]
    with gzip.open(corpus / "made-up.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps({"text": text, "source": "made up"}) + "\n" for text in rows)
    return corpus, save_encoder(start, request.param, num_hidden_layers=2)


def trained(folders: tuple[Path, Path], work: Path, *options: object) -> dict[str, torch.Tensor]:
    """The weights after some steps."""
    fixed = ("--steps", STEPS, "--minutes", 10**6, "--batch", 1600, "--matching", 1)
    train.app([str(part) for part in (*folders, work, *fixed, *options)])
    weights: dict[str, torch.Tensor] = torch.load(work / "checkpoint.pt", weights_only=True)
    return weights


def test_what_is_exported_ships(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(train, "LONG_SHARE", 0.5)  # both lengths of blocks
    first, second = (tmp_path / name for name in ("first", "second"))
    trained(folders, first, "--dtype", "bfloat16", "--matching-layer", 1, 2)
    weights = trained(folders, second, "--weights", first / "checkpoint.pt", "--blocks", 1)
    assert f"{STEPS} steps, " in capsys.readouterr().out.splitlines()[-1]
    out, start = tmp_path / "out", folders[1]
    arguments = [*map(str, (second / "checkpoint.pt", start, out)), "--layer", "1"]
    export.app(arguments)
    names = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert not any(str(tmp_path.parent) in path.read_text() for path in out.glob("*.json"))
    scorer = EstimeScorer(model=str(out), device="cpu")
    assert scorer.score([SENTENCES[0]], [" ".join(SENTENCES[:3])]).layers == (1,)
    name = next(name for name in weights if name.endswith("layer.0.output.dense.weight"))
    exported = load_pretrained(str(out), None, torch.float32)
    off = exported.model.state_dict()[name.removeprefix("body.")] - weights[name]
    assert off.norm() < 0.01 * weights[name].norm()
    assert exported.headed is None
    if json.loads((start / "config.json").read_text())["model_type"] == "bert":
        export.app([*arguments, "--head"])
        headed = load_pretrained(str(out), None, torch.float32).headed
        assert torch.equal(headed.cls.predictions.bias, weights["bias"])
    export.app([*map(str, (first / "checkpoint.pt", start, out)), "--layer", "1", "--blocks", "1"])
    assert load_pretrained(str(out), None, torch.float32).info.blocks == 1


@pytest.mark.parametrize("folder", [embedded.BASE, embedded.SMALL])
def test_rows_of_the_bundled_encoders_are_those_of_the_export(folder: Path) -> None:
    stored = load_file(folder / "model.safetensors")
    matrices = [name.removesuffix(".scale") for name in stored if name.endswith(".scale")]
    assert len(matrices) > 20
    for name in matrices:
        rows, scale = stored[name], stored[f"{name}.scale"]
        codes, scales = export.quantize(rows.float() * scale.float()[:, None])
        assert torch.equal(
            codes.float() * scales.float()[:, None], rows.float() * scale.float()[:, None]
        )


def test_the_scale_of_a_row_is_better_than_its_largest_value() -> None:
    weight = (
        torch.randn(50, 200, generator=torch.Generator().manual_seed(0))
        * torch.logspace(-4, 1, 50)[:, None]
    )
    weight[7] = 0
    codes, scale = export.quantize(weight)
    assert (codes.dtype, scale.dtype, scale.shape) == (torch.int8, torch.float16, (50,))
    error = (codes.float() * scale.float()[:, None] - weight).square().sum(1)
    largest = (weight.abs().amax(1) / 127).half().float().clamp(min=1e-20)
    plain = (
        ((weight / largest[:, None]).round().clamp(-127, 127) * largest[:, None] - weight)
        .square()
        .sum(1)
    )
    assert (error <= plain).all()
    assert error.sum() < 0.99 * plain.sum()
    assert (error.sqrt() <= 0.01 * weight.norm(dim=1)).all()
