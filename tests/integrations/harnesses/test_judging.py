"""What all integrations with harnesses share: measures and explanation of a pair, threads that take
turns, and forks.
"""

from __future__ import annotations

import json
import os
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from estime_metric import EstimeScorer
from estime_metric.integrations.judging import Judge, listed_alarms
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


FORK = """
    import os, signal, sys, threading, torch
    from estime_metric.integrations.judging import Judge

    torch.set_num_threads(2)
    pair = tuple(sys.argv[1:3]) or ("The cat sat.", "The cat sat on the mat.")

    def in_child(ask):
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends a child that hangs
            try:
                code = ask()
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", flush=True)
                code = 1
            os._exit(code)
        return os.waitpid(child, 0)[1]
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_is_forked_while_nothing_is_judged_judges_too() -> None:
    """Before the first pair and afterwards; in the child of a child too."""
    script = """
        judge = Judge(model="embedded-small", device="cpu")
        assert in_child(lambda: judge([pair[0]], [pair[1]])[0].measures["tokens"] != 4) == 0
        expected = judge([pair[0]], [pair[1]])[0].measures
        def differs():  # by more than rounding: other threads and a cached source round otherwise
            measures = judge([pair[0]], [pair[1]])[0].measures
            return any(abs(measures[name] - expected[name]) > 1e-5 for name in expected)
        assert in_child(differs) == 0
        assert in_child(lambda: differs() or in_child(differs)) == 0
    """
    run_python(textwrap.dedent(FORK) + textwrap.dedent(script))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_is_forked_judges_texts_of_real_lengths(
    summeval: list[tuple[str, str]],
) -> None:
    script = """
        import warnings
        judge = Judge(model="embedded-small", device="cpu")
        expected = [judgement.measures for judgement in judge([pair[0]], [pair[1]])]

        def judged():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                alarms = [judgement.measures["alarms"] for judgement in judge([pair[0]], [pair[1]])]
            return alarms != [expected[0]["alarms"]] or len(caught) != 1

        assert in_child(judged) == 0
    """
    run_python(textwrap.dedent(FORK) + textwrap.dedent(script), *summeval[0])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_is_forked_when_the_thread_of_a_harness_ends_judges_too() -> None:
    """One fork in three hung when pairs were judged in the thread that asked for it."""
    script = """
        judge = Judge(model="embedded-small", device="cpu")
        source = "Anna saw the cat on the mat while the dog slept in the garden of the old house. " * 2
        for number in range(10):
            ask = lambda: judge([source], [source + str(number)])
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
            assert in_child(lambda: not ask()) == 0
    """
    run_python(textwrap.dedent(FORK) + textwrap.dedent(script))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_nobodys_fork_waits_for_a_judgement_and_the_child_is_told_to_be_spawned() -> None:
    script = """
        reached, opened = threading.Event(), threading.Event()

        def split(text):
            reached.set()
            assert opened.wait(60)
            return text.split()

        judge = Judge(model="embedded-small", device="cpu", unit="word", splitter=split)
        judged = []
        thread = threading.Thread(target=lambda: judged.extend(judge([pair[0]], [pair[1]])))
        thread.start()
        assert reached.wait(60)
        other = Judge(model="embedded-small", device="cpu")
        assert in_child(lambda: 0) == 0  # immediately: `opened` is not set
        assert in_child(lambda: bool(other([pair[0]], [pair[1]]))) == 256
        assert in_child(lambda: bool(other.scorer.score([pair[0]], [pair[1]]))) == 256
        assert not judged
        opened.set()
        thread.join()
        assert judged[0].measures["tokens"] == 3
        assert in_child(lambda: not other([pair[0]], [pair[1]])) == 0
    """
    of_judge, of_scorer = run_python(
        textwrap.dedent(FORK) + textwrap.dedent(script)
    ).stdout.splitlines()
    assert of_judge == of_scorer
    assert of_scorer.startswith(
        "RuntimeError: This process was forked while its parent was scoring"
    )
    assert 'multiprocessing.get_context("spawn")' in of_scorer
