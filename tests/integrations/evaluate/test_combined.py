"""ESTIME and a metric that reads references in one `evaluate.combine`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("datasets")
evaluate = pytest.importorskip("evaluate")

import datasets  # noqa: E402

from estime_metric.integrations.evaluate import Estime  # noqa: E402

pytestmark = pytest.mark.usefixtures("evaluate_home")


class UnigramRecall(evaluate.Metric):
    """A module with the inputs of ROUGE, as strict as ROUGE about further keyword arguments."""

    def _info(self) -> Any:
        text = datasets.Value("string")
        features = datasets.Features({"predictions": text, "references": text})
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=features
        )

    def _compute(
        self, predictions: list[str], references: list[str], use_stemmer: bool = False
    ) -> dict[str, float]:
        shares = [
            np.mean([word in prediction.split() for word in reference.split()])
            for prediction, reference in zip(predictions, references, strict=True)
        ]
        return {"recall": float(np.mean(shares)), "stemmed": float(use_stemmer)}


def test_both_give_what_they_give_alone(metric: Estime, texts: dict[str, list[str]]) -> None:
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
    both.add_batch(**texts, references=gold)
    with pytest.raises(TypeError, match="`use_stemmer`"):
        both.compute(use_stemmer=True)  # passed to each of them
