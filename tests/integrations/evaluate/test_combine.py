"""ESTIME beside a metric that reads references, as ROUGE does."""

from __future__ import annotations

from collections.abc import Callable
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


def check_combined(scores: dict[str, Any], metric: Estime, texts: dict, gold: list[str], other: Any) -> None:
    alone = {**metric.compute(**texts), **other.compute(predictions=texts["predictions"], references=gold)}
    assert scores == alone


@pytest.mark.parametrize("first", ["recall", "estime"])
def test_combined_in_one_call(metric: Estime, texts: dict, first: str) -> None:
    gold = [summary.upper() for summary in texts["predictions"]]
    other = UnigramRecall()
    both = combine([other, metric] if first == "recall" else [metric, other])
    check_combined(both.compute(**texts, references=gold, use_stemmer=True), metric, texts, gold, other)


def test_combined_by_evaluate_itself(metric: Estime, texts: dict) -> None:
    gold = [summary.upper() for summary in texts["predictions"]]
    other = UnigramRecall()
    both = evaluate.combine([other, metric])
    both.add_batch(**texts, references=gold)
    check_combined(both.compute(), metric, texts, gold, other)
    for summary, source, reference in zip(*texts.values(), gold, strict=True):
        both.add(prediction=summary, reference=reference, sources=source)
    check_combined(both.compute(), metric, texts, gold, other)


def test_combined_by_evaluate_in_one_call_where_the_other_takes_more(metric: Estime, texts: dict) -> None:
    class Lenient(UnigramRecall):
        def _compute(self, predictions: list[str], references: list[str], **_: Any) -> dict[str, float]:
            return super()._compute(predictions, references)

    gold = [summary.upper() for summary in texts["predictions"]]
    both = evaluate.combine([Lenient(), metric])
    check_combined(both.compute(**texts, references=gold, use_stemmer=True), metric, texts, gold, UnigramRecall())
    with pytest.raises(TypeError, match="Did you mean `layers`"):
        both.compute(**texts, references=gold, layer_index=2)


def test_combined_with_rouge(metric: Estime, texts: dict, rouge: Callable[[], Any]) -> None:
    gold = texts["predictions"][::-1]
    both = combine([rouge(), metric])
    check_combined(both.compute(**texts, references=gold), metric, texts, gold, rouge())
