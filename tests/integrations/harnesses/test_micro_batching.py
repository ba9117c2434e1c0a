"""Pairs submitted one by one are judged in batches, whoever waits for them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from estime_metric.integrations.judging import Judge, Judgement
from estime_metric.integrations.micro_batching import MicroBatcher

Pairs = list[tuple[str, str]]


class Counted(Judge):
    """A judge that notes the size of its batches."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.batches: list[int] = []

    def __call__(self, predictions: Any, sources: Any) -> list[Judgement]:
        self.batches.append(len(predictions))
        return super().__call__(predictions, sources)


def test_each_gets_its_own_judgement(bert_folder: str, pairs: Pairs) -> None:
    judge = Counted(explain=True, model=bert_folder)
    batcher = MicroBatcher(judge, most=7)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda pair: batcher.submit(*pair).result(), pairs * 3))
    assert sum(judge.batches) == 48
    assert max(judge.batches) > 1
    assert max(judge.batches) <= 7
    for pair, judgement in zip(pairs * 3, found, strict=True):
        alone = judge([pair[0]], [pair[1]])[0]
        assert judgement.measures["alarms"] == alone.measures["alarms"] == judgement.explanation.alarms
        assert (judgement.explanation.prediction, judgement.explanation.source) == pair


def test_those_submitted_at_once_are_one_batch(bert_folder: str, pairs: Pairs) -> None:
    judge = Counted(model=bert_folder)
    batcher = MicroBatcher(judge, wait=1.5)
    futures = [batcher.submit(*pair) for pair in pairs]
    assert futures[3].cancel()
    assert [future.result().measures["tokens"] > 0 for future in futures if not future.cancelled()] == [True] * 15
    assert judge.batches == [15]
    again, first = batcher.submit(*pairs[0]).result().measures, futures[0].result().measures
    assert (again["alarms"], again["tokens"]) == (first["alarms"], first["tokens"])  # winners may differ by rounding


def test_an_error_reaches_all_who_wait_and_no_one_else(pairs: Pairs) -> None:
    batcher = MicroBatcher(Judge(model="/nowhere/at all"), wait=0.2)
    futures = [batcher.submit(*pair) for pair in pairs[:2]]
    for future in futures:
        with pytest.raises(Exception, match="nowhere"):
            future.result()
    with pytest.raises(TypeError, match="`source` to be a str, but got NoneType"):
        batcher.submit("A summary.", None)  # type: ignore[arg-type]
