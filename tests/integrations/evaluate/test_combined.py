"""ESTIME in one call with other metrics: each gets the inputs and the options that it declares."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

pytest.importorskip("datasets")
evaluate = pytest.importorskip("evaluate")

import datasets  # noqa: E402

from estime_metric.integrations.evaluate import Estime, combine  # noqa: E402

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
    """The inputs and the keywords of ``evaluate.load("bertscore")``, metrics/bertscore/bertscore.py
    of evaluate 0.4; it returns the options that it got.
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
        verbose: bool = False,
        idf: bool | dict[str, float] = False,
        device: str | None = None,
        batch_size: int = 64,
        nthreads: int = 4,
        all_layers: bool = False,
        rescale_with_baseline: bool = False,
        baseline_path: str | None = None,
        use_fast_tokenizer: bool = False,
    ) -> dict[str, Any]:
        given = dict(locals())
        if lang is None and model_type is None:
            raise ValueError("Either 'lang' or 'model_type' must be specified")
        own = set(inspect.signature(self._compute).parameters) - {"predictions", "references"}
        return {
            "f1": [float(len(text)) for text in predictions],
            "gold": references,
            "options": {name: given[name] for name in own},
        }


class Lenient(UnigramRecall):
    """Takes every option, as some modules do, and says which it got."""

    def _compute(self, predictions: list[str], references: list[str], **got: Any) -> dict[str, Any]:
        return {**super()._compute(predictions, references), "got": sorted(got)}


@pytest.fixture
def gold(texts: dict) -> list[str]:
    return [summary.upper() for summary in texts["predictions"]]


def alone(metric: Estime, texts: dict, gold: list[str], other: Any, **options: Any) -> dict:
    predictions = texts["predictions"]
    return {
        **metric.compute(**texts),
        **other.compute(predictions=predictions, references=gold, **options),
    }


#: Options of BERTScore, of which several resemble options of ESTIME.
BERTSCORE_OPTIONS = {"lang": "en", "model_type": "x", "num_layers": 3, "batch_size": 2, "idf": True}


def test_each_module_gets_what_it_declares(metric: Estime, texts: dict, gold: list[str]) -> None:
    other = BERTScore()
    for modules in ([other, metric], [metric, other]):
        both = combine(modules)
        expected = alone(metric, texts, gold, other, **BERTSCORE_OPTIONS)
        assert both.compute(**texts, references=gold, **BERTSCORE_OPTIONS) == expected
        both.add_batch(**texts, references=gold)
        assert both.compute(**BERTSCORE_OPTIONS) == expected
    scores = both.compute(**texts, references=gold, lang="en", layers=1, device="cpu")
    assert "|layers:1|" in scores["signature"]
    assert (scores["options"]["device"], scores["options"]["lang"]) == ("cpu", "en")  # both have it


def test_evaluates_own_combination_too(metric: Estime, texts: dict, gold: list[str]) -> None:
    other = BERTScore()
    both = evaluate.combine([other, metric])
    both.add_batch(**texts, references=gold)
    assert both.compute(**BERTSCORE_OPTIONS) == alone(
        metric, texts, gold, other, **BERTSCORE_OPTIONS
    )
    for summary, source, reference in zip(*texts.values(), gold, strict=True):
        both.add(prediction=summary, reference=reference, sources=source)
    assert both.compute(lang="en") == alone(metric, texts, gold, other, lang="en")
    lenient = evaluate.combine([Lenient(), metric])
    scores = lenient.compute(**texts, references=gold, use_stemmer=True, layer_index=2)
    assert {**scores, **metric.compute(**texts)} == scores
    with pytest.warns(UserWarning, match="ESTIME ignores `distanc`.* Did you mean `distance`"):
        assert lenient.compute(**texts, references=gold, distanc=2)["alarms"] == scores["alarms"]
    with pytest.raises(TypeError, match="Did you mean `distance`"):
        metric.compute(**texts, distanc=2)  # alone


def test_an_option_goes_to_a_module_by_its_name(
    bert_folder: str, texts: dict, gold: list[str]
) -> None:
    modules = {"low": Estime(model=bert_folder), "high": Estime(model=bert_folder), "b": Lenient()}
    each = combine(modules, options={"low": {"layers": 1}, "b": {"layers": 7}})
    scores = each.compute(**texts, references=gold)
    expected = Estime(model=bert_folder, layers=1).compute(**texts)
    assert scores["low_alarms_scores"] == expected["alarms_scores"]
    assert "|layers:4|" in scores["high_signature"]
    assert scores["got"] == ["layers"]
    scores = each.compute(**texts, references=gold, layers=2, unheard=1)
    assert "|layers:2|" in scores["low_signature"]  # the call decides
    assert scores["got"] == ["layers", "unheard"]  # what nobody declares goes to who takes any
    with pytest.raises(
        ValueError, match=r"`options` to name modules among low, high, b, .*'estime'"
    ):
        combine(modules, options={"estime": {}})


def test_an_option_that_nobody_takes_is_refused(
    metric: Estime, texts: dict, gold: list[str]
) -> None:
    both = combine([UnigramRecall(), metric])
    with pytest.raises(TypeError, match=r"one of the modules accepts .*, but got `layer_index`\.$"):
        both.compute(**texts, references=gold, layer_index=2)


def test_single_examples_by_singular_names(metric: Estime, texts: dict, gold: list[str]) -> None:
    other = UnigramRecall()
    both = combine([other, metric])
    for summary, source, reference in zip(*texts.values(), gold, strict=True):
        both.add(prediction=summary, reference=reference, source=source)
    assert len(both) == 6
    expected = alone(metric, texts, gold, other)
    assert both.compute() == expected
    summaries, sources = texts["predictions"], texts["sources"]
    both.add(prediction=summaries[0], reference=gold[0], sources=sources[0])
    both.add_batch(predictions=summaries[1:3], references=gold[1:3], sources=sources[1:3])
    rest = {"predictions": summaries[3:], "references": gold[3:], "sources": sources[3:]}
    assert both.compute(**rest) == expected
    with pytest.raises(ValueError, match="given or added first"):
        combine([metric]).compute()
    assert combine([metric]).compute(predictions=[], sources=[])["alarms_scores"] == []
    with pytest.raises(ValueError, match="but got `articles`"):
        both.add(prediction="A cat.", article="A cat.")
    with pytest.raises(ValueError, match="of the same length, but got 1 predictions, 2 sources"):
        both.add_batch(predictions=["A cat."], sources=["A cat.", "A dog."])
    both.add(prediction="A cat.", reference="A cat.")
    both.add(prediction="A cat.", source="A cat sat.")
    with pytest.raises(ValueError, match=r"Expected `references` for all 2 examples, but only 1"):
        both.compute()


def test_after_an_error_no_module_has_anything_twice(
    metric: Estime, texts: dict, gold: list[str]
) -> None:
    """Whichever module raises, before or after the others are done."""
    other = BERTScore()
    expected = alone(metric, texts, gold, other, lang="en")
    for modules in ([other, metric], [metric, other]):
        both = combine(modules)
        for bad in ({"lang": "en", "layers": 99}, {}):  # an error of ESTIME, one of BERTScore
            both.add_batch(**texts, references=gold)
            with pytest.raises(ValueError, match="The 6 examples that were added before are kept"):
                both.compute(**bad)
            assert both.compute(lang="en") == expected
            both.add_batch(**texts, references=gold)
            with pytest.raises(ValueError, match="The 6 examples"):
                both.compute(**bad)
            with pytest.warns(UserWarning, match="6 examples .* are dropped"):
                both.add_batch(**texts, references=gold)
            assert both.compute(lang="en") == expected
