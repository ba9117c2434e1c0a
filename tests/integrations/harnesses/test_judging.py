"""What all integrations with harnesses share: measures and explanation of a pair, threads that take
turns, and forks.
"""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from estime_metric import EstimeScorer
from estime_metric.integrations.judging import Judge, listed_alarms
from tests.command import run_with_forks
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


def test_a_shared_scorer_need_not_compute_the_measures(bert_folder: str, pairs: Pairs) -> None:
    with pytest.raises(ValueError, match=r"`measures` to be one of .*, but got 'rouge'"):
        Judge(measures=["alarms", "rouge"])
    scorer = EstimeScorer(model=bert_folder, cache=10**7)
    judge = Judge(scorer, measures=["winners", "alarms"])
    (judgement,) = judge([pairs[0][0]], [pairs[0][1]])
    assert judge.measures == ("winners", "alarms", "blank")
    assert set(judge.measures) < set(judgement.measures)
    assert (judge.scorer.encoder, judge.scorer.cache) == (scorer.encoder, scorer.cache)


def test_the_main_thread_judges_by_itself(bert_folder: str, pairs: Pairs) -> None:
    """Ctrl-C ends its judgement immediately, and the CUDA device in use is its own."""
    threads: list[threading.Thread] = []

    def split(text: str) -> list[str]:
        threads.append(threading.current_thread())
        return text.split()

    judge = Judge(model=bert_folder, unit="word", splitter=split)
    judge(*unzip(pairs[:1]))
    assert set(threads) == {threading.main_thread()}


def test_threads_take_turns_and_an_error_is_of_one_sample(bert_folder: str, pairs: Pairs) -> None:
    """As harnesses call it: a thread for each sample."""
    active: list[str] = []

    def split(text: str) -> list[str]:
        active.append(text)
        time.sleep(0.002)  # others may come in
        assert active == [text]
        active.remove(text)
        if "bad" in text:
            raise KeyError("no such word")
        return text.split()

    judge = Judge(explain=True, model=bert_folder, unit="word", splitter=split)
    samples = [*pairs, ("A bad cat.", "A cat."), *pairs]
    with ThreadPoolExecutor(16) as threads:
        judgements = [threads.submit(judge, [summary], [source]) for summary, source in samples]
    with pytest.raises(KeyError, match="no such word"):
        judgements.pop(16).result()
    for (summary, source), future in zip(pairs * 2, judgements, strict=True):
        (judgement,) = future.result()
        assert (judgement.explanation.prediction, judgement.explanation.source) == (summary, source)
        assert judgement.measures["tokens"] == len(summary.split())
        assert judgement.measures["alarms"] == judgement.explanation.alarms


FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.mark.slow
@FORKS
def test_a_process_that_is_forked_when_the_thread_of_a_harness_ends_judges_too() -> None:
    """One fork in three hung when pairs were judged in the thread that asked for it."""
    script = """
        import threading, torch
        from estime_metric.integrations.judging import Judge

        torch.set_num_threads(2)
        judge = Judge(model="embedded-small", device="cpu")
        source = "Anna saw the cat on the mat while the dog slept in the garden of the old house. " * 2
        for number in range(10):
            ask = lambda: judge([source], [source + str(number)])
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
            assert in_child(ask) == 0
    """
    assert run_with_forks(script) == []


@pytest.mark.slow
@FORKS
def test_nobodys_fork_waits_for_a_judgement_and_the_child_is_told_to_be_spawned() -> None:
    script = """
        import threading
        from estime_metric.integrations.judging import Judge

        reached, opened = threading.Event(), threading.Event()

        def split(text):
            reached.set()
            assert opened.wait(60)
            return text.split()

        texts = ["The cat sat."], ["The cat sat on the mat."]
        judge = Judge(model="embedded-small", device="cpu", unit="word", splitter=split)
        judged = []
        thread = threading.Thread(target=lambda: judged.extend(judge(*texts)))
        thread.start()
        assert reached.wait(60)
        other = Judge(model="embedded-small", device="cpu")
        assert in_child(lambda: None) == 0  # immediately: `opened` is not set
        assert in_child(lambda: other(*texts)) == 256
        assert in_child(lambda: other.scorer.score(*texts)) == 256
        assert not judged
        opened.set()
        thread.join()
        assert judged[0].measures["tokens"] == 3
        assert in_child(lambda: other(*texts)) == 0
    """
    judge_message, scorer_message = run_with_forks(script)
    assert judge_message == scorer_message
    assert scorer_message.startswith(
        "RuntimeError: This process was forked while its parent was scoring"
    )
    assert 'multiprocessing.get_context("spawn")' in scorer_message
