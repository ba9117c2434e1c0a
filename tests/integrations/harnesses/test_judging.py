"""What all integrations with harnesses share: measures and explanation of a pair, and pairs
gathered into batches.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from estime_metric import EstimeScorer
from estime_metric.integrations.judging import Judge, MicroBatcher, listed_alarms
from tests.command import run_python
from tests.integrations.conftest import Pairs, unzip


def test_measures_and_explanations_agree(bert_folder: str, pairs: Pairs) -> None:
    texts = unzip(pairs)
    judge = Judge(explain=True, model=bert_folder, measures="soft")
    judgements = judge(*texts)
    result = EstimeScorer(model=bert_folder, measures="soft").score(*texts)
    assert {judgement.signature for judgement in judgements} == {result.signature}
    for row, judgement in enumerate(judgements):
        assert set(judgement.measures) == set(result.measures)
        assert (
            judgement.measures["alarms"]
            == float(result.values("alarms")[row])
            == judgement.explanation.alarms
        )
        assert len(listed_alarms(judgement.explanation)) == judgement.measures["alarms"]
    assert sum(judgement.measures["alarms"] for judgement in judgements) > 0
    assert judge.scorer.cache.misses == 3  # as many as there are sources: each is encoded once


@pytest.mark.parametrize(("summary", "remark"), [("", "empty"), ("☃☃☃", "nothing was checked")])
def test_where_nothing_is_checked(
    bert_folder: str, summary: str, remark: str, pairs: Pairs
) -> None:
    judgement = Judge(explain=True, model=bert_folder)([summary], [pairs[0][1]])[0]
    assert remark in judgement.text()
    metadata = judgement.metadata()
    assert metadata["alarm_list"] == []
    assert json.loads(json.dumps(metadata, allow_nan=False)) == metadata


def test_without_explanation(bert_folder: str, pairs: Pairs) -> None:
    judgement = Judge(model=bert_folder)([pairs[9][0]], [pairs[9][1]])[0]
    assert judgement.explanation is None
    assert judgement.text().startswith(f"{judgement.measures['alarms']:.0f} alarms")
    assert "alarm_list" not in judgement.metadata()


def test_several_layers_are_refused() -> None:
    for layers in ("all", (1, 2)):
        with pytest.raises(ValueError, match="`layers` to be one layer"):
            Judge(layers=layers)


def test_a_shared_scorer_need_not_compute_the_measures(bert_folder: str, pairs: Pairs) -> None:
    with pytest.raises(ValueError, match=r"`measures` to be one of alarms, .*, but got 'rouge'"):
        Judge(measures=["alarms", "rouge"])
    scorer = EstimeScorer(model=bert_folder, cache=10**7)
    judge = Judge(scorer, measures=["copied", "alarms"])
    (judgement,) = judge([pairs[0][0]], [pairs[0][1]])
    assert judge.measures == ("copied", "alarms", "blank")
    assert set(judge.measures) < set(judgement.measures)
    assert (judge.scorer.encoder, judge.scorer.cache) == (scorer.encoder, scorer.cache)


def test_each_gets_its_own_judgement(bert_folder: str, pairs: Pairs, scored: list[int]) -> None:
    judge = Judge(explain=True, model=bert_folder)
    batcher = MicroBatcher(judge, most=7)
    with ThreadPoolExecutor(16) as threads:  # more than a batch holds
        found = list(threads.map(lambda pair: batcher.submit(*pair).result(), pairs * 3))
    assert sum(scored) == 48
    assert 1 < max(scored) <= 7
    for pair, judgement in zip(pairs * 3, found, strict=True):
        alone = judge([pair[0]], [pair[1]])[0]
        assert (
            judgement.measures["alarms"] == alone.measures["alarms"] == judgement.explanation.alarms
        )
        assert (judgement.explanation.prediction, judgement.explanation.source) == pair


@pytest.mark.slow
def test_those_submitted_at_once_are_one_batch(
    bert_folder: str, pairs: Pairs, scored: list[int]
) -> None:
    batcher = MicroBatcher(Judge(model=bert_folder), wait=0.5)
    futures = [batcher.submit(*pair) for pair in pairs]
    assert futures[3].cancel()
    assert [
        future.result().measures["tokens"] > 0 for future in futures if not future.cancelled()
    ] == [True] * 15
    assert scored == [15]
    again, first = batcher.submit(*pairs[0]).result().measures, futures[0].result().measures
    assert (again["alarms"], again["tokens"]) == (
        first["alarms"],
        first["tokens"],
    )  # winners may differ by rounding


def test_an_error_reaches_all_who_wait_and_no_one_else(pairs: Pairs) -> None:
    batcher = MicroBatcher(Judge(model="/nowhere/at all"), wait=0.2)
    futures = [batcher.submit(*pair) for pair in pairs[:2]]
    for future in futures:
        with pytest.raises(Exception, match="nowhere"):
            future.result()
    with pytest.raises(TypeError, match="`source` to be a str, but got NoneType"):
        batcher.submit("A summary.", None)  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_judges_too() -> None:
    """No child waits for the parent: forked when all is done, while pairs gather or are judged, or
    with a lock held.
    """
    script = """
        import os, signal, threading
        from contextlib import nullcontext
        from estime_metric.integrations.judging import Judge, MicroBatcher

        pair = "The cat sat.", "The cat sat on the mat."
        batcher = MicroBatcher(Judge(model="embedded-small", device="cpu"), wait=0.5)
        expected = batcher.submit(*pair).result().measures
        encoding = batcher.judge.scorer.encoder._lock
        for during, locked in ((False, None), (True, None), (True, batcher._lock), (True, encoding)):
            pending = batcher.submit(*pair) if during else None
            while locked is encoding and not encoding.locked():
                pending = batcher.submit(*pair) if pending.done() else pending
            with nullcontext() if locked in (None, encoding) else locked:
                child = os.fork()
                if child == 0:
                    signal.alarm(60)  # ends a child that hangs
                    os._exit(batcher.submit(*pair).result().measures != expected)
            assert os.waitpid(child, 0)[1] == 0
            assert pending is None or pending.result().measures == expected
            assert "estime_0" in [thread.name for thread in threading.enumerate()]  # one that ends may hold a lock
    """
    run_python(script)  # on one thread: torch's own pool of threads does not survive a fork
