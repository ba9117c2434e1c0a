"""The `evaluate` metric: what it returns, how texts are added, its options, and what is kept after an
error.
"""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeConfig, EstimeScorer, estime
from estime_metric.measures import BASE_MEASURES
from tests.integrations.evaluate.conftest import SCRIPT

evaluate = pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import Estime  # noqa: E402

pytestmark = pytest.mark.usefixtures("evaluate_home")


def test_what_is_returned(metric: Any, texts: dict[str, list[str]]) -> None:
    names = [*BASE_MEASURES, "soft", "winners", "estime"]
    lists = [f"{name}_scores" for name in ("inconsistency", "alarms", "soft", "winners")]
    scores = metric.compute(**texts, measures="soft,winners")
    assert list(scores) == [*names, *lists, "signature"]
    assert scores["estime"] == scores["alarms"]


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
        "tagger": lambda words: ["long" if len(word) > 4 else "short" for word in words],
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


def test_something_has_to_be_added(metric: Estime) -> None:
    with pytest.raises(ValueError, match="call `add` or `add_batch` at least once"):
        metric.compute()


def test_references_are_never_sources(metric: Estime, texts: dict[str, list[str]]) -> None:
    expected = metric.compute(**texts)
    assert metric.compute(**texts, references=["Gold."] * 6) == expected
    metric.add_batch(**texts)
    for name, method in (
        ("predictions", metric.compute),
        ("predictions", metric.add_batch),
        ("prediction", metric.add),
    ):
        for wrong in ("references", "source"):
            with pytest.raises(TypeError, match=r"as `sources=`, but got .*; `references` are ig"):
                method(**{name: texts["predictions"], wrong: texts["sources"]})
    assert metric.compute() == expected


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_any_split_gives_the_same(
    bert_folder: str, texts: dict[str, list[str]], tmp_path: Path, keep_in_memory: bool
) -> None:
    own = {"cache_dir": str(tmp_path), "keep_in_memory": keep_in_memory}
    own |= {"model": bert_folder, "device": "cpu", "cache": None}
    metric = Estime(**own)
    expected = metric.compute(**texts)
    summaries, sources = texts["predictions"], texts["sources"]
    metric.add(prediction=summaries[0], sources=sources[0])
    other = Estime(**own)  # another job in the same folder
    other.add_batch(predictions=summaries[:2], sources=sources[:2])
    metric.add_batch(predictions=summaries[1:5], sources=sources[1:5])
    assert metric.compute(predictions=summaries[5:], sources=sources[5:]) == expected
    assert other.compute()["alarms_scores"] == expected["alarms_scores"][:2]
    assert metric.compute(**texts) == expected  # nothing is left of what was added


@pytest.mark.parametrize(
    ("method", "inputs", "message"),
    [
        ("compute", {"sources": ["b", ""]}, "`sources`.* empty string at index 1"),
        ("add_batch", {"sources": "b"}, "`sources`.* single str"),
        ("add_batch", {"sources": ["b", "c"], "article": ["b", "c"]}, "'article'"),
        ("add", {"sources": "A cat \ud83d"}, "`sources` .* surrogate .* at index 6"),
        ("add", {"prediction": ["A."], "sources": "A."}, "`prediction` to be a str, but got list"),
    ],
)
def test_bad_texts_are_named_and_nothing_is_added(
    metric: Estime, texts: dict[str, list[str]], method: str, inputs: dict[str, Any], message: str
) -> None:
    metric.add_batch(**texts)
    summaries = {"prediction": "a"} if method == "add" else {"predictions": ["a", "b"]}
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(metric, method)(**{**summaries, **inputs})
    assert len(metric) == 6


def test_whatever_fails_loses_nothing_that_was_added(
    bert_folder: str,
    texts: dict[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    metric = Estime(model=bert_folder, cache=None, cache_dir=str(tmp_path))
    expected = metric.compute(**texts)
    metric.add_batch(**texts)
    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(OSError, match='model="embedded"'):
            metric.compute(model="not/there")
    with pytest.raises(ValueError, match=r"`layers` .*but got 99"):
        metric.compute(layers=99)
    for error in (KeyboardInterrupt, MemoryError):
        with monkeypatch.context() as patch:
            patch.setattr(
                EstimeScorer, "score_checked", lambda *_, e=error: (_ for _ in ()).throw(e)
            )
            for call in ({}, texts):  # the texts of the call itself are passed again
                with pytest.raises(error):
                    metric.compute(**call)
    assert metric.compute() == expected
    assert not [*tmp_path.rglob("*.arrow")]  # nor are files left


@pytest.mark.parametrize("counts", [(5, 1), (6, 0), (0, 0)])
def test_process_0_scores_the_pairs_of_both_and_only_it_needs_an_encoder(
    bert_folder: str,
    texts: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    counts: tuple[int, int],
) -> None:
    load, has_handed_over = EstimeScorer.load, threading.Event()

    def load_late(scorer: EstimeScorer) -> Any:
        """As long as a download takes: longer than the other process waits."""
        has_handed_over.wait(60)
        return load(scorer)

    def compute(rank: int) -> Any:
        shared = {"cache_dir": str(tmp_path), "experiment_id": "shared", "timeout": 10}
        model = bert_folder if rank == 0 else str(tmp_path)  # a folder without an encoder
        metric = Estime(model=model, num_process=2, process_id=rank, **shared)
        own = slice(0, counts[0]) if rank == 0 else slice(counts[0], sum(counts))
        for summary, source in zip(*(column[own] for column in texts.values()), strict=True):
            metric.add(prediction=summary, sources=source)
        try:
            return metric.compute()
        finally:
            if rank == 1:
                has_handed_over.set()

    monkeypatch.setattr(EstimeScorer, "load", load_late)
    with ThreadPoolExecutor(2) as processes:
        scores, nothing = processes.map(compute, [0, 1])
    assert nothing is None
    few = {name: column[: sum(counts)] for name, column in texts.items()}
    assert scores["alarms_scores"] == estime(*few.values(), model=bert_folder).alarms.tolist()
