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

TEXT = datasets.Value("string")
PAIRED = datasets.Features({"predictions": TEXT, "references": TEXT})


def info(features: Any) -> Any:
    return evaluate.MetricInfo(
        description="", citation="", inputs_description="", features=features
    )


class UnigramRecall(evaluate.Metric):
    """A module with the inputs of ROUGE, as strict as ROUGE about further keyword arguments."""

    def _info(self) -> Any:
        return info(PAIRED)

    def _compute(
        self, predictions: list[str], references: list[str], use_stemmer: bool = False
    ) -> dict[str, float]:
        shares = [
            np.mean([word in prediction.split() for word in reference.split()])
            for prediction, reference in zip(predictions, references, strict=True)
        ]
        return {"recall": float(np.mean(shares)), "stemmed": float(use_stemmer)}


class BERTScore(evaluate.Metric):
    """The inputs and some keywords of ``evaluate.load("bertscore")``; it returns the options that it
    got.
    """

    def _info(self) -> Any:
        several = datasets.Features(
            {"predictions": TEXT, "references": datasets.Sequence(TEXT, id="references")}
        )
        return info([several, PAIRED])

    def _compute(
        self,
        predictions: list[str],
        references: list[str],
        lang: str | None = None,
        model_type: str | None = None,
        num_layers: int | None = None,
        idf: bool = False,
        device: str | None = None,
        batch_size: int = 64,
    ) -> dict[str, Any]:
        return {
            "f1": [float(len(text)) for text in predictions],
            "gold": references,
            "options": [lang, model_type, num_layers, idf, device, batch_size],
        }


class Lenient(UnigramRecall):
    """Takes every option, as some modules do, and says which it got."""

    def _compute(self, predictions: list[str], references: list[str], **got: Any) -> dict[str, Any]:
        return {**super()._compute(predictions, references), "got": sorted(got)}


@pytest.fixture
def gold(texts: dict) -> list[str]:
    return [summary.upper() for summary in texts["predictions"]]


#: Options of BERTScore, of which several resemble options of ESTIME.
BERTSCORE_OPTIONS = {"lang": "en", "model_type": "x", "num_layers": 3, "batch_size": 2, "idf": True}


def test_both_give_what_they_give_alone(metric: Estime, texts: dict, gold: list[str]) -> None:
    other = BERTScore()
    both = evaluate.combine([other, metric])
    expected = {
        **metric.compute(**texts),
        **other.compute(predictions=texts["predictions"], references=gold, **BERTSCORE_OPTIONS),
    }
    both.add_batch(**texts, references=gold)
    assert both.compute(**BERTSCORE_OPTIONS) == expected
    for summary, source, reference in zip(*texts.values(), gold, strict=True):
        both.add(prediction=summary, reference=reference, sources=source)
    assert both.compute(**BERTSCORE_OPTIONS) == expected


def test_options_of_the_other_are_ignored_unless_they_resemble_ours(
    metric: Estime, texts: dict, gold: list[str]
) -> None:
    lenient = evaluate.combine([Lenient(), metric])
    scores = lenient.compute(**texts, references=gold, use_stemmer=True, layer_index=2)
    assert {**scores, **metric.compute(**texts)} == scores
    with pytest.warns(UserWarning, match="ESTIME ignores `distanc`.* Did you mean `distance`"):
        assert lenient.compute(**texts, references=gold, distanc=2)["alarms"] == scores["alarms"]
    with pytest.raises(TypeError, match="Did you mean `distance`"):
        metric.compute(**texts, distanc=2)  # alone
