"""The `evaluate` metric: what it returns, how texts are added, its options, and what is kept after an
error.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
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


def test_any_split_gives_the_same_and_no_text_is_written_to_disk(
    bert_folder: str, texts: dict[str, list[str]], tmp_path: Path
) -> None:
    metric = Estime(model=bert_folder, cache=None, cache_dir=str(tmp_path))
    expected = metric.compute(**texts)
    summaries, sources = texts["predictions"], texts["sources"]
    metric.add(prediction=summaries[0], source=sources[0])
    metric.add(predictions=summaries[1], references="Gold.", sources=sources[1])
    metric.add(prediction=summaries[2], reference=sources[2])
    metric.add_batch(predictions=summaries[3:5], references=sources[3:5])
    assert len(metric) == 5
    assert metric.compute(predictions=summaries[5:], sources=sources[5:]) == expected
    assert len(metric) == 0
    assert metric.compute(**texts) == expected  # nothing is left of what was added
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


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
    message = r"`references` were used as the sources, but 4 of 6 are not longer than the summary"
    with pytest.warns(UserWarning, match=message):
        metric.compute(predictions=summaries, references=gold)
    metric.add_batch(predictions=summaries, references=gold)
    with pytest.warns(UserWarning, match=message):
        metric.compute()
    metric.compute(predictions=summaries, sources=gold)  # who names them has decided
    metric.compute(predictions=summaries, references=texts["sources"])


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ({"references": [["b"]]}, TypeError, "`references`.* list at index 0"),
        ({"references": "b"}, TypeError, "`references`.* single str"),
        ({"references": []}, ValueError, "`predictions` and `references`.* 1 and 0"),
        ({"references": ["b"], "sources": None}, TypeError, "`sources`.* NoneType"),
        ({}, TypeError, "`sources`.* NoneType"),
        ({"predictions": None, "sources": ["b"]}, TypeError, "`predictions`.* NoneType"),
    ],
)
def test_bad_texts_are_named_and_nothing_is_added(
    metric: Estime, texts: dict, inputs: dict[str, Any], error: type[Exception], message: str
) -> None:
    metric.add_batch(**texts)
    for method in (metric.compute, metric.add_batch):
        with pytest.raises(error, match=message):
            method(**{"predictions": ["a"], **inputs})
    assert len(metric) == 6


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"reference": "Gold.", "source": None}, "`source` to be a str, but got NoneType .* 1"),
        ({"source": "A cat \ud83d"}, "`source` .* surrogate .* at index 1"),
        (
            {"prediction": ["A."], "source": "A."},
            "`prediction` to be a str, but got list at index 1",
        ),
        ({}, "`reference` to be a str, but got NoneType at index 1"),
        ({"article": "A cat."}, "`article`"),
    ],
)
def test_add_names_argument_and_index(metric: Estime, inputs: dict[str, Any], message: str) -> None:
    metric.add(prediction="A cat.", source="A cat sat.")
    with pytest.raises((TypeError, ValueError), match=message):
        metric.add(**{"prediction": "A cat.", **inputs})
    assert len(metric) == 1


# Options


def test_bad_options_are_named(metric: Estime, texts: dict) -> None:
    with pytest.raises(TypeError, match=r"but got `use_stemmer`\.$"):  # resembles none
        metric.compute(**texts, use_stemmer=True)
    with pytest.raises(ValueError, match="`article`"):
        metric.add_batch(predictions=["A cat."], article=["A cat."])
    with pytest.raises(ValueError, match="`config_name`"):
        Estime("embedded-small")
    with pytest.raises(TypeError, match="`model_revision`"):
        Estime(revision="a", model_revision="b")


def test_an_error_or_an_interruption_loses_nothing_that_was_added(
    metric: Estime, texts: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = metric.compute(**texts)
    metric.add_batch(**texts)
    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(OSError, match='model="embedded"'):
            metric.compute(model="not/there")
    with pytest.raises(ValueError, match=r"`layers` .*but got 99"):
        metric.compute(**texts, layers=99)  # the texts of this call are forgotten
    with monkeypatch.context() as patch:
        patch.setattr(
            EstimeScorer, "score_checked", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            metric.compute()
    assert metric.compute() == expected
