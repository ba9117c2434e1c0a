"""The `evaluate` metric: what it returns, how texts are added, its options, and what is kept after an
error.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

from estime_metric import EstimeConfig, EstimeScorer, estime
from estime_metric.measures import BASE_MEASURES
from tests.integrations.evaluate.conftest import SCRIPT

evaluate = pytest.importorskip("evaluate")
datasets = pytest.importorskip("datasets")

from estime_metric.integrations.evaluate import Estime  # noqa: E402

pytestmark = pytest.mark.usefixtures("evaluate_home")


def by_length(words: list[str]) -> list[str]:
    return ["long" if len(word) > 4 else "short" for word in words]


def test_what_is_returned(metric: Any, texts: dict[str, list[str]]) -> None:
    names = [*BASE_MEASURES, "soft", "copied", "estime"]
    lists = [f"{name}_scores" for name in ("inconsistency", "alarms", "soft", "copied")]
    assert list(metric.compute(**texts, measures="soft,copied")) == [*names, *lists, "signature"]


def test_every_option_can_be_set_at_load_time_and_in_compute(texts: dict, bert_folder: str) -> None:
    options: dict[str, Any] = {
        "model": bert_folder,
        "revision": "main",
        "layers": 2,
        "unit": "word",
        "window": 120,
        "margin": 10,
        "distance": 3,
        "normalize": True,
        "splitter": str.split,
        "tagger": by_length,
        "keep_tags": ["long", "short"],
        "drop_tags": ["short"],
        "measures": ["winners", "soft"],
        "soft_model": bert_folder,
        "soft_revision": "main",
        "dtype": "bfloat16",
        "device": "cpu",
        "token_budget": 700,
    }
    assert set(options) == {field.name for field in dataclasses.fields(EstimeConfig)}
    expected = estime(**texts, **options)
    at_load = {**options, "model_revision": options["revision"]}
    del at_load["revision"]
    loaded = evaluate.load(str(SCRIPT), **at_load).compute(**texts)
    computed = Estime(model="not/there").compute(**texts, **options)
    for scores in (loaded, computed):
        assert scores["winners_scores"] == expected.winners.tolist()
        assert scores["signature"] == expected.signature


# Inputs


def test_something_has_to_be_added(metric: Estime) -> None:
    with pytest.raises(ValueError, match="given or added first"):
        metric.compute()


def test_references_are_read_as_sources_unless_these_are_given(metric: Estime, texts: dict) -> None:
    expected = metric.compute(**texts)
    assert metric.compute(predictions=texts["predictions"], references=texts["sources"]) == expected
    assert metric.compute(**texts, references=["Gold."] * 6) == expected
    metric.add_batch(**texts, references=["Gold."] * 6)
    assert metric.compute() == expected


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_any_split_gives_the_same(texts: dict, bert_folder: str, keep_in_memory: bool) -> None:
    metric = Estime(model=bert_folder, keep_in_memory=keep_in_memory, cache=None)
    expected = metric.compute(**texts)
    summaries, sources = texts["predictions"], texts["sources"]
    for summary, source in zip(summaries, sources, strict=True):
        metric.add(prediction=summary, source=source)
    assert metric.compute() == expected
    metric.add(prediction=summaries[0], reference=sources[0])
    metric.add(predictions=summaries[1], references="Gold.", sources=sources[1])
    metric.add_batch(predictions=summaries[2:4], references=sources[2:4])
    assert len(metric) == 4
    assert metric.compute(predictions=summaries[4:], sources=sources[4:]) == expected
    assert metric.compute(**texts) == expected  # nothing is left of what was added


def test_other_sequences_are_taken(metric: Estime, texts: dict) -> None:
    expected = metric.compute(**texts)
    assert metric.compute(**{name: np.array(column) for name, column in texts.items()}) == expected
    assert metric.compute(**{name: tuple(column) for name, column in texts.items()}) == expected
    data = datasets.Dataset.from_dict(texts)
    assert metric.compute(predictions=data["predictions"], sources=data["sources"]) == expected


def test_reference_summaries_taken_for_sources_are_warned_of(metric: Estime, texts: dict) -> None:
    summaries = texts["predictions"]
    gold = [
        f"{summary} today" if number < 2 else summary[1:]
        for number, summary in enumerate(summaries)
    ]
    said = r"`references` were used as the sources, but 4 of 6 are not longer than the summary"
    with pytest.warns(UserWarning, match=said):
        metric.compute(predictions=summaries, references=gold)
    metric.add_batch(predictions=summaries, references=gold)
    with pytest.warns(UserWarning, match=said):
        metric.compute()
    metric.compute(predictions=summaries, sources=gold)  # who names them has decided
    metric.compute(predictions=summaries, references=texts["sources"])
    with pytest.raises(ValueError, match="layers"):
        metric.compute(predictions=summaries, references=gold, layers=99)
    metric.compute(predictions=summaries, sources=gold)  # what was refused is forgotten


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        (
            {"predictions": ["a", None], "sources": ["b", "c"]},
            TypeError,
            "`predictions`.* NoneType at index 1",
        ),
        ({"predictions": ["a"], "sources": [None]}, TypeError, "`sources`.* NoneType at index 0"),
        (
            {"predictions": ["a", "b \ud83d"], "sources": ["c", "d"]},
            ValueError,
            "`predictions`.* surrogate.* index 1",
        ),
        (
            {"predictions": ["a"], "references": [["b"]]},
            TypeError,
            "`references`.* list at index 0",
        ),
        ({"predictions": "a", "sources": ["b"]}, TypeError, "`predictions`.* single str"),
        ({"predictions": ["a"], "references": "b"}, TypeError, "`references`.* single str"),
        (
            {"predictions": ["a", "b"], "sources": ["c"]},
            ValueError,
            "`predictions` and `sources`.* 2 and 1",
        ),
        (
            {"predictions": ["a"], "references": []},
            ValueError,
            "`predictions` and `references`.* 1 and 0",
        ),
        ({"predictions": ["a"]}, TypeError, "`sources`.* NoneType"),
        ({"sources": ["a"]}, TypeError, "`predictions`.* NoneType"),
        (
            {"predictions": ["a"], "references": ["b"], "sources": None},
            TypeError,
            "`sources`.* NoneType",
        ),
    ],
)
def test_bad_texts_are_named(
    metric: Estime, texts: dict, inputs: dict[str, Any], error: type[Exception], message: str
) -> None:
    metric.add_batch(**texts)
    for take in (metric.compute, metric.add_batch):
        with pytest.raises(error, match=message):
            take(**inputs)
    # What was added before is still there, and no more.
    assert len(metric.compute()["alarms_scores"]) == 6


def test_add_names_argument_and_index(metric: Estime, texts: dict) -> None:
    metric.add(prediction=texts["predictions"][0], source=texts["sources"][0])
    for given, message in (
        (
            {"prediction": "A cat.", "reference": "Gold.", "source": None},
            "`source` to be a str, but got NoneType .* 1",
        ),
        ({"prediction": "A cat.", "source": "A cat \ud83d"}, "`source` .* surrogate .* at index 1"),
        (
            {"prediction": ["A cat."], "source": "A cat."},
            "`prediction` to be a str, but got list at index 1",
        ),
        ({"prediction": "A cat."}, "`reference` to be a str, but got NoneType at index 1"),
        ({"prediction": "A cat.", "article": "A cat."}, "`article`"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            metric.add(**given)
    with pytest.raises(ValueError, match="`article`"):
        metric.add_batch(predictions=["A cat."], article=["A cat."])
    assert len(metric) == 1


# Options


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("model_name", " Did you mean `model`?"),
        ("layer_index", " Did you mean `layers`?"),
        ("use_stemmer", ""),
        ("lang", " Did you mean `model`?"),
        ("batch_size", " Did you mean `token_budget`?"),
    ],
)
def test_an_unknown_option_is_refused_and_the_one_meant_is_named(
    metric: Estime, texts: dict, name: str, hint: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(f"but got `{name}`.{hint}") + "$"):
        metric.compute(**texts, **{name: 2})


def test_bad_options_are_named(metric: Estime, texts: dict) -> None:
    with pytest.raises(TypeError, match="`use_stemmer`"):
        Estime(use_stemmer=True)
    with pytest.raises(ValueError, match="`config_name`"):
        Estime("embedded-small")
    with pytest.raises(ValueError, match="`unit`"):
        metric.compute(**texts, unit="sentence")
    with pytest.raises(TypeError, match="`model_revision`"):
        Estime(revision="a", model_revision="b")


def test_a_missing_encoder_loses_nothing(
    texts: dict, bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    metric = Estime(model="not/there")
    metric.add_batch(**texts)
    with pytest.raises(OSError, match='model="embedded"'):
        metric.compute()
    assert len(metric.compute(model=bert_folder)["alarms_scores"]) == 6


def test_what_was_added_is_kept_for_another_compute_and_what_was_given_is_forgotten(
    metric: Estime, texts: dict
) -> None:
    expected = metric.compute(**texts)
    metric.add_batch(**texts)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"`layers` .*but got 99"):
            metric.compute(**texts, layers=99)
    assert len(metric) == 6
    assert metric.compute() == expected
    assert len(metric) == 0


def test_an_interruption_loses_nothing_too(
    metric: Estime, texts: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric.add_batch(**texts)
    with monkeypatch.context() as patch:
        patch.setattr(EstimeScorer, "score", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            metric.compute()
    assert len(metric.compute()["alarms_scores"]) == 6
