"""ESTIME beside a metric that reads references, as ROUGE does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

evaluate = pytest.importorskip("evaluate")
datasets = pytest.importorskip("datasets")

from estime_metric.integrations.evaluate import Estime, combine  # noqa: E402

pytestmark = pytest.mark.usefixtures("evaluate_home")


class UnigramRecall(evaluate.Metric):
    """A module with the inputs of ROUGE, as strict as ROUGE about further keyword arguments."""

    def _info(self) -> Any:
        text = datasets.Value("string")
        features = datasets.Features({"predictions": text, "references": text})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions: list[str], references: list[str], use_stemmer: bool = False) -> dict[str, float]:
        shares = [
            np.mean([word in prediction.split() for word in reference.split()])
            for prediction, reference in zip(predictions, references, strict=True)
        ]
        return {"recall": float(np.mean(shares))}


class Lenient(UnigramRecall):
    """Takes every option, as some modules do."""

    def _compute(self, predictions: list[str], references: list[str], **_: Any) -> dict[str, float]:
        return super()._compute(predictions, references)


@pytest.fixture
def gold(texts: dict) -> list[str]:
    return [summary.upper() for summary in texts["predictions"]]


def alone(metric: Estime, texts: dict, gold: list[str], other: Any) -> dict[str, Any]:
    return {**metric.compute(**texts), **other.compute(predictions=texts["predictions"], references=gold)}


def test_combined_in_one_call(metric: Estime, texts: dict, gold: list[str]) -> None:
    other = UnigramRecall()
    for both in (combine([other, metric]), combine([metric, other]), evaluate.combine([Lenient(), metric])):
        scores = both.compute(**texts, references=gold, use_stemmer=True)
        assert scores == alone(metric, texts, gold, other)
    with pytest.raises(TypeError, match="Did you mean `layers`"):
        both.compute(**texts, references=gold, layer_index=2)


def test_combined_by_evaluate_itself(metric: Estime, texts: dict, gold: list[str]) -> None:
    other = UnigramRecall()
    both = evaluate.combine([other, metric])
    both.add_batch(**texts, references=gold)
    assert both.compute() == alone(metric, texts, gold, other)
    for summary, source, reference in zip(*texts.values(), gold, strict=True):
        both.add(prediction=summary, reference=reference, sources=source)
    assert both.compute() == alone(metric, texts, gold, other)
