"""What the documents show runs unchanged, also together with a metric that reads references."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

evaluate = pytest.importorskip("evaluate")

import datasets  # noqa: E402

from estime_metric.integrations.evaluate import Estime, register  # noqa: E402
from tests.pages import ROOT, blocks  # noqa: E402


class UnigramRecall(evaluate.Metric):
    """In place of ROUGE, which needs the network: its inputs, and as strict about options."""

    def _info(self) -> Any:
        text = datasets.Value("string")
        features = datasets.Features({"predictions": text, "references": text})
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=features
        )

    def _compute(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        pairs = zip(predictions, references, strict=True)
        return {"recall": sum(word in text for text, gold in pairs for word in gold.split())}


@pytest.fixture(autouse=True)
def registered(evaluate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`evaluate.load("estime")` works, and the working folder is an empty one."""
    register()
    monkeypatch.chdir(tmp_path)
    load = evaluate.load
    monkeypatch.setattr(
        evaluate, "load", lambda name: UnigramRecall() if name == "rouge" else load(name)
    )


@pytest.mark.parametrize("page", ["README.md", "docs/evaluate.md"])
def test_a_page_prints_what_it_says(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    own = [block.code for block in blocks(ROOT / page) if "evaluate.load" in block.code]
    for code in own:
        exec(code, {"__name__": "__main__"})
    printed = capsys.readouterr().out
    outputs = re.findall(r"^print\(.*\)  # (.+)$", "".join(own), re.MULTILINE)
    assert outputs
    for output in outputs:
        assert re.search(re.escape(output).replace(r"\.\.\.", ".*"), printed), output


def test_combined_metrics_give_what_each_gives_alone(
    metric: Estime, texts: dict[str, list[str]]
) -> None:
    gold = [summary.upper() for summary in texts["predictions"]]
    other = UnigramRecall()
    both = evaluate.combine([other, metric])
    expected = {
        **metric.compute(**texts),
        **other.compute(predictions=texts["predictions"], references=gold),
    }
    both.add_batch(**texts, references=gold)
    assert both.compute() == expected
    for summary, source, reference in zip(*texts.values(), gold, strict=True):
        both.add(prediction=summary, reference=reference, sources=source)
    assert both.compute() == expected


def test_the_card() -> None:
    card, flags = ROOT / "hub_space" / "README.md", doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(card), module_relative=False, optionflags=flags)
    assert tried > 0
    assert failed == 0
