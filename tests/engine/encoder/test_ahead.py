"""Work that runs ahead in a thread: the same items and errors, one ahead at most, and no thread
that stays.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric import scorer as scorer_module
from estime_metric.engine import embedding as embedding_module
from estime_metric.engine.encoder import masked as encoder_module
from estime_metric.engine.encoder.blocks import BlockTaps
from estime_metric.engine.encoder.memory import ahead_of
from tests.families import SENTENCES

META = torch.device("meta")  # any but the CPU


def threads() -> list[str]:
    return [
        thread.name for thread in threading.enumerate() if thread.name.startswith("estime-ahead")
    ]


def count(made: list[int], most: int = 100, fail_at: int = 100) -> Generator[int]:
    for number in range(most):
        if number == fail_at:
            raise KeyError(number)
        made.append(number)
        yield number


@pytest.mark.parametrize("most", [0, 1, 2, 50])
def test_the_items_are_the_same_and_an_error_comes_behind_them(most: int) -> None:
    variable = contextvars.ContextVar("variable", default=-1)
    variable.set(7)  # the thread has the context of the caller
    assert list(ahead_of(META, (number + variable.get() for number in count([], most)))) == list(
        range(7, 7 + most)
    )
    assert not threads()
    items = ahead_of(META, count([], fail_at=most))
    assert [next(items) for _ in range(most)] == list(range(most))
    with pytest.raises(KeyError, match=str(most)):
        next(items)
    assert not threads()


def test_one_item_is_made_ahead_and_no_more() -> None:
    made: list[int] = []
    second_is_made = threading.Event()

    def numbers() -> Generator[int]:
        for number in count(made):
            if number == 1:
                second_is_made.set()
            yield number

    items = ahead_of(META, numbers())
    assert made == []  # nothing before the first is asked for
    assert next(items) == 0
    assert second_is_made.wait(20)  # while the first is worked on
    for number in range(1, 20):
        assert next(items) == number
        assert len(made) <= number + 2
    assert len(threads()) == 1
    items.close()
    assert not threads()
    made.clear()
    assert next(ahead_of(torch.device("cpu"), count(made))) == 0
    assert (made, threads()) == ([0], [])


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Runs ahead on every device, in chunks of a few pairs; returns what ran, for each thread that
    was begun.
    """
    begun: list[Any] = []

    def ahead(device: torch.device, items: Generator[Any]) -> Generator[Any]:
        begun.append(items)
        return ahead_of(META, items)

    for module in (embedding_module, encoder_module):
        monkeypatch.setattr(module, "ahead_of", ahead)
    monkeypatch.setattr(scorer_module, "EMBEDDED_BYTES", 10_000)
    return begun


SUMMARIES = [" ".join(SENTENCES[i % 7 : i % 7 + 2]) for i in range(24)] + ["", "The cat"]
SOURCES = [" ".join(SENTENCES[i % 3 : i % 3 + 5]) for i in range(24)] + [SENTENCES[0], "It"]


def scorer(folder: str, **options: Any) -> EstimeScorer:
    return EstimeScorer(model=folder, device="cpu", window=60, margin=10, distance=4, **options)


@pytest.fixture
def plain(bert_folder: str) -> list[float]:
    return scorer(bert_folder).score(SUMMARIES, SOURCES).values("alarms").tolist()


def test_scores_are_the_same_with_a_cache_and_threads(
    bert_folder: str, plain: list[float], forced: list[Any]
) -> None:
    cached = scorer(bert_folder, cache=10**8)
    assert cached.cache is not None
    for hits in (0, 3):
        assert cached.score(SUMMARIES, SOURCES).values("alarms").tolist() == plain
        assert (cached.cache.hits, cached.cache.misses) == (
            hits,
            3,
        )  # two are compared with nothing
    assert sum(plain) > 0
    assert len(forced) > 2 + 6  # the chunks of either call, and the batches of each chunk
    shared = scorer(bert_folder)
    with ThreadPoolExecutor(2) as pool:
        results = list(
            pool.map(lambda _: shared.score(SUMMARIES, SOURCES).values("alarms").tolist(), range(2))
        )
    assert results == [plain] * 2
    assert not threads()


def fails_at_fish(text: str) -> list[str]:
    if "fish" in text:
        raise ArithmeticError("no fish")
    return text.split()


def test_an_error_tells_the_pair_and_leaves_no_thread(bert_folder: str, forced: list[Any]) -> None:
    texts = [SENTENCES[i % 5] for i in range(20)]
    broken = [*texts[:13], "A fish.", *texts[14:]]
    for side, pairs in (("summary", (broken, texts)), ("source", (texts, broken))):
        with pytest.raises(ArithmeticError, match="no fish") as caught:
            scorer(bert_folder, unit="word", splitter=fails_at_fish).score(*pairs)
        notes = getattr(caught.value, "__notes__", [])  # from Python 3.11 on
        assert notes in ([f"This was the {side} of pair 13, counted from 0."], [])
        assert not threads()


@pytest.mark.parametrize(
    "stage",
    [
        (BlockTaps, "read"),
        (scorer_module, "match_batch"),
        (scorer_module, "count_statistics"),
    ],
)
def test_an_error_of_any_stage_leaves_no_thread(
    stage: tuple[Any, str], bert_folder: str, forced: list[Any]
) -> None:
    with mock.patch.object(*stage, side_effect=ArithmeticError), pytest.raises(ArithmeticError):
        scorer(bert_folder).score(SUMMARIES, SOURCES)
    assert forced
    assert not threads()
