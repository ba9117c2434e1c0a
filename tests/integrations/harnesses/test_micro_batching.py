"""Pairs submitted one by one are judged in batches, whoever waits for them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from estime_metric.integrations.judging import Judge, Judgement
from estime_metric.integrations.micro_batching import MicroBatcher
from tests.integrations.conftest import Pairs


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


@pytest.mark.slow
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_judges_too(bert_folder: str) -> None:
    """Forked when all is done, and while the parent's pairs are still gathering: neither child waits for a thread that
    only the parent has."""
    script = textwrap.dedent("""
        import os, signal, sys
        from estime_metric.integrations.judging import Judge
        from estime_metric.integrations.micro_batching import MicroBatcher

        pair = "The cat sat.", "The cat sat on the mat."
        batcher = MicroBatcher(Judge(model=sys.argv[1], device="cpu"), wait=2.0)
        expected = batcher.submit(*pair).result().measures
        for during in (False, True):
            pending = batcher.submit(*pair) if during else None
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # ends a child that hangs
                os._exit(batcher.submit(*pair).result().measures != expected)
            assert os.waitpid(child, 0)[1] == 0
        assert pending.result().measures == expected
    """)
    # One thread: torch's own pool of threads does not survive a fork.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", script, bert_folder], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
