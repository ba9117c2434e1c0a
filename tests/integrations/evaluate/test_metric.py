"""The `evaluate` metric: what it returns, how texts are added, its options, and what is kept after an
error.
"""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
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
    names = [*BASE_MEASURES, "soft", "winners", "estime"]
    lists = [f"{name}_scores" for name in ("inconsistency", "alarms", "soft", "winners")]
    assert list(metric.compute(**texts, measures="soft,winners")) == [*names, *lists, "signature"]


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
        "min_tokens": 20,
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
    with pytest.raises(ValueError, match="call `add` or `add_batch` at least once"):
        metric.compute()


def test_references_are_never_sources(metric: Estime, texts: dict[str, list[str]]) -> None:
    expected = metric.compute(**texts)
    assert metric.compute(**texts, references=["Gold."] * 6) == expected
    metric.add_batch(**texts)
    summaries = {"predictions": texts["predictions"]}
    for method in (metric.compute, metric.add_batch):
        for wrong in ({}, {"references": texts["sources"]}, {"source": texts["sources"]}):
            with pytest.raises(TypeError, match=r"as `sources=`, but got .*; `references` are ig"):
                method(**summaries, **wrong)
    for wrong in ({}, {"reference": "A cat."}, {"source": "A cat."}):
        with pytest.raises(TypeError, match="as `sources=`, but got"):
            metric.add(prediction="A.", **wrong)
    with pytest.raises(TypeError, match="as `sources=`, but got `source=`"):
        metric.compute(source=texts["sources"])
    assert metric.compute() == expected


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_any_split_gives_the_same(
    bert_folder: str, texts: dict[str, list[str]], tmp_path: Path, keep_in_memory: bool
) -> None:
    own = {"cache_dir": str(tmp_path), "keep_in_memory": keep_in_memory}
    metric = Estime(model=bert_folder, cache=None, **own)
    expected = metric.compute(**texts)
    summaries, sources = texts["predictions"], texts["sources"]
    metric.add(prediction=summaries[0], sources=sources[0])
    other = Estime(model=bert_folder, cache=None, **own)  # another job in the same folder
    other.add_batch(predictions=summaries[:2], sources=sources[:2])
    metric.add_batch(predictions=summaries[1:5], sources=sources[1:5])
    assert len(metric) == 5
    assert metric.compute(predictions=summaries[5:], sources=sources[5:]) == expected
    assert len(metric) == 0
    assert other.compute()["alarms_scores"] == expected["alarms_scores"][:2]
    assert metric.compute(**texts) == expected  # nothing is left of what was added


def test_other_sequences_are_taken(metric: Estime, texts: dict[str, list[str]]) -> None:
    expected = metric.compute(**texts)
    assert metric.compute(**{name: np.array(column) for name, column in texts.items()}) == expected
    assert metric.compute(**{name: tuple(column) for name, column in texts.items()}) == expected
    assert metric.compute(**datasets.Dataset.from_dict(texts)[:]) == expected


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ({"sources": ["b", ""]}, ValueError, "`sources`.* empty string at index 1"),
        ({"sources": "b"}, TypeError, "`sources`.* single str"),
        ({"sources": []}, ValueError, "`predictions` and `sources`.* 2 and 0"),
    ],
)
def test_bad_texts_are_named_and_nothing_is_added(
    metric: Estime,
    texts: dict[str, list[str]],
    inputs: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    metric.add_batch(**texts)
    for method in (metric.compute, metric.add_batch):
        with pytest.raises(error, match=message):
            method(**{"predictions": ["a", "b"], **inputs})
    assert len(metric) == 6


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"sources": "A cat \ud83d"}, "`sources` .* surrogate .* at index 1"),
        ({"prediction": ["A."], "sources": "A."}, "`prediction` to be a str, but got list at i"),
        ({"sources": "A cat.", "article": "A cat."}, "'article'"),
    ],
)
def test_add_names_argument_and_index(metric: Estime, inputs: dict[str, Any], message: str) -> None:
    metric.add(prediction="A cat.", sources="A cat sat.")
    with pytest.raises((TypeError, ValueError), match=message):
        metric.add(**{"prediction": "A cat.", **inputs})
    assert len(metric) == 1


# Options


def test_bad_options_are_named(metric: Estime, texts: dict[str, list[str]]) -> None:
    with pytest.raises(ValueError, match="'article'"):
        metric.add_batch(**texts, article=["A cat."])
    with pytest.raises(ValueError, match="`config_name`"):
        Estime("embedded-small")


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_whatever_fails_loses_nothing_that_was_added(
    bert_folder: str,
    texts: dict[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    keep_in_memory: bool,
) -> None:
    own = {"cache_dir": str(tmp_path), "keep_in_memory": keep_in_memory}
    metric = Estime(model=bert_folder, cache=None, **own)
    expected = metric.compute(**texts)
    metric.add_batch(**texts)
    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(OSError, match='model="embedded"'):
            metric.compute(model="not/there")
    with pytest.raises(ValueError, match=r"`layers` .*but got 99"):
        metric.compute(layers=99)
    for error in (KeyboardInterrupt, MemoryError, RuntimeError):
        with monkeypatch.context() as patch:
            patch.setattr(
                EstimeScorer, "score_checked", lambda *_, e=error: (_ for _ in ()).throw(e)
            )
            for call in ({}, texts):  # the texts of the call itself are passed again
                with pytest.raises(error):
                    metric.compute(**call)
        assert len(metric) == 6
    assert metric.compute() == expected
    assert metric.compute(**texts) == expected
    assert not [*tmp_path.rglob("*.arrow")]  # nor are files left


def test_other_processes_do_not_wait_for_the_encoder_of_process_0(
    bert_folder: str,
    texts: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load, has_handed_over = EstimeScorer.load, threading.Event()

    def load_late(scorer: EstimeScorer) -> Any:
        """As long as a download takes: longer than the other process waits."""
        has_handed_over.wait(60)
        return load(scorer)

    def compute(rank: int) -> Any:
        shared = {"cache_dir": str(tmp_path), "experiment_id": "shared", "timeout": 10}
        metric = Estime(model=bert_folder, num_process=2, process_id=rank, **shared)
        try:
            return metric.compute(**texts)
        finally:
            if rank == 1:
                has_handed_over.set()

    monkeypatch.setattr(EstimeScorer, "load", load_late)
    with ThreadPoolExecutor(2) as processes:
        scores, nothing = processes.map(compute, [0, 1])
    assert nothing is None
    assert len(scores["alarms_scores"]) == 2 * len(texts["predictions"])
