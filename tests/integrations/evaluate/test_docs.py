"""What the documents show runs as it stands."""

from __future__ import annotations

import doctest
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from estime_metric import estime
from tests.families import SENTENCES, make_tokenizer
from tests.integrations.evaluate.conftest import SCRIPT

evaluate = pytest.importorskip("evaluate")
transformers = pytest.importorskip("transformers")

from estime_metric.integrations.evaluate import register, unregister  # noqa: E402

ROOT = SCRIPT.parents[1]
GUIDE = ROOT / "docs" / "evaluate.md"
CARD = ROOT / "hub_space" / "README.md"

pytestmark = pytest.mark.usefixtures("registered")


@pytest.fixture
def registered(evaluate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`evaluate.load("estime")` works, and the working folder is an empty one."""
    register()
    monkeypatch.chdir(tmp_path)
    yield
    unregister()


def blocks(document: Path) -> list[str]:
    """The Python code blocks of a document."""
    return re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def scripts() -> list[Any]:
    """The blocks that need nothing but the package: those that give their own texts."""
    return [
        pytest.param(block, id=f"{document.name}-{number}")
        for document in (ROOT / "README.md", GUIDE)
        for number, block in enumerate(blocks(document))
        if "evaluate.load" in block and "source = " in block
    ]


@pytest.mark.parametrize("script", scripts())
def test_a_newcomers_script(script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "script.py"
    file.write_text(script, encoding="utf-8")
    runpy.run_path(str(file), run_name="__main__")
    printed = capsys.readouterr().out
    alarms, *_ = map(float, re.findall(r"\d+\.\d+", printed))
    assert "ESTIME|model:embedded@" in printed
    assert alarms >= 0


def test_the_card() -> None:
    failed, tried = doctest.testfile(
        str(CARD), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert tried > 0
    assert failed == 0


@pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true:UserWarning")
def test_the_guides_trainer(monkeypatch: pytest.MonkeyPatch, bert_folder: str) -> None:
    pytest.importorskip("accelerate")
    block = next(block for block in blocks(GUIDE) if "Seq2SeqTrainer(" in block)
    load = evaluate.load
    monkeypatch.setattr(evaluate, "load", lambda name, model: load(name, model=bert_folder))
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    tokenizer = make_tokenizer("bert")
    small = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2, "initializer_factor": 5.0}
    special = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.sep_token_id}
    config = transformers.T5Config(
        vocab_size=len(tokenizer), **small, **special, decoder_start_token_id=tokenizer.pad_token_id
    )
    articles = [" ".join(SENTENCES[start : start + size]) for start, size in ((0, 1), (1, 3), (4, 2))]
    data = [
        {"input_ids": tokenizer(article)["input_ids"], "labels": tokenizer(article[:40])["input_ids"]}
        for article in articles
    ]
    model = transformers.T5ForConditionalGeneration(config)
    shared = set.intersection(*(set(row["input_ids"]) for row in data)) - set(tokenizer.all_special_ids)
    model.generation_config.suppress_tokens = sorted(set(range(len(tokenizer))) - shared)  # so that all is checked
    names = {"model": model, "tokenizer": tokenizer, "train_data": data, "validation_data": data}
    exec(block, names)
    trainer = names["trainer"]
    trainer.args.max_steps = 2
    trainer.train()
    output = trainer.predict(data)
    sources = tokenizer.batch_decode([row["input_ids"] for row in data], skip_special_tokens=True)
    expected = estime(names["texts"](output.predictions), sources, model=bert_folder)
    assert output.metrics["test_estime"] == expected.mean("alarms")
    assert output.metrics["test_inconsistency"] == expected.mean("inconsistency")
    assert output.metrics["test_coverage"] == expected.coverage
    assert expected.mean("overlap") > 0
    assert trainer.evaluate()["eval_estime"] == expected.mean("alarms")
