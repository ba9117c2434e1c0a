"""What all integrations with harnesses share: measures and explanation of a pair, and pairs
gathered into batches.
"""

from __future__ import annotations

import json
import os
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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
    with pytest.raises(ValueError, match=r"`measures` to be one of .*, but got 'rouge'"):
        Judge(measures=["alarms", "rouge"])
    scorer = EstimeScorer(model=bert_folder, cache=10**7)
    judge = Judge(scorer, measures=["copied", "alarms"])
    (judgement,) = judge([pairs[0][0]], [pairs[0][1]])
    assert judge.measures == ("copied", "alarms", "blank")
    assert set(judge.measures) < set(judgement.measures)
    assert (judge.scorer.encoder, judge.scorer.cache) == (scorer.encoder, scorer.cache)


class Gate:
    """A splitter of words that waits, for a text with a distinct word, until it is opened."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self, text: str) -> list[str]:
        if "waits" in text:
            self.reached.set()
            assert self.open.wait(60)
        return text.split()


def judge_with(splitter: Callable[[str], list[str]], model: str, **options: Any) -> Judge:
    return Judge(model=model, unit="word", splitter=splitter, **options)


def test_each_gets_its_own_judgement(bert_folder: str, pairs: Pairs, scored: list[int]) -> None:
    judge = Judge(explain=True, model=bert_folder)
    batcher = MicroBatcher(judge, most=7)
    with ThreadPoolExecutor(16) as threads:  # more than fit into a batch
        found = list(threads.map(lambda pair: batcher.submit(*pair).result(), pairs * 3))
    assert sum(scored) == 48
    assert 1 < max(scored) <= 7
    for pair, judgement in zip(pairs * 3, found, strict=True):
        alone = judge([pair[0]], [pair[1]])[0]
        assert (
            judgement.measures["alarms"] == alone.measures["alarms"] == judgement.explanation.alarms
        )
        assert (judgement.explanation.prediction, judgement.explanation.source) == pair


def test_the_next_batch_gathers_while_one_is_judged(
    bert_folder: str, pairs: Pairs, scored: list[int]
) -> None:
    gate = Gate()
    batcher = MicroBatcher(judge_with(gate, bert_folder), wait=0, most=3)
    first = batcher.submit("A cat waits.", "A cat waits.")
    assert gate.reached.wait(60)
    later = [batcher.submit(*pair) for pair in pairs[:4]]
    assert later[3].cancel()
    later.append(batcher.submit(*pairs[4]))
    gate.open.set()
    assert first.result().measures["tokens"] == 3
    found = [future.result().measures for future in later if not future.cancelled()]
    assert scored[:3] == [1, 3, 1]
    (expected,) = judge_with(str.split, bert_folder)([pairs[4][0]], [pairs[4][1]])
    assert found[-1]["tokens"] == expected.measures["tokens"]


def test_an_error_reaches_all_who_wait_and_no_one_else(pairs: Pairs) -> None:
    batcher = MicroBatcher(Judge(model="/nowhere/at all"), wait=0.2)
    futures = [batcher.submit(*pair) for pair in pairs[:2]]
    for future in futures:
        with pytest.raises(Exception, match="nowhere"):
            future.result()
    with pytest.raises(TypeError, match="`source` to be a str, but got NoneType"):
        batcher.submit("A summary.", None)  # type: ignore[arg-type]


def test_a_text_on_which_a_splitter_raises_fails_alone(bert_folder: str, pairs: Pairs) -> None:
    def split(text: str) -> list[str]:
        if "bad" in text:
            raise KeyError("no such word")
        return text.split()

    bad = {3: ("A bad cat.", "A cat."), 11: ("A cat.", "A bad cat.")}
    gate = Gate()
    batcher = MicroBatcher(judge_with(lambda text: gate(text) and split(text), bert_folder), wait=0)
    batcher.submit("It waits.", "It waits.")
    assert gate.reached.wait(60)  # all others are one batch
    futures = [batcher.submit(*bad.get(row, pair)) for row, pair in enumerate(pairs)]
    gate.open.set()
    for row, future in enumerate(futures):
        if row in bad:
            with pytest.raises(KeyError, match="no such word"):
                future.result()
        else:
            assert future.result().measures["tokens"] == len(pairs[row][0].split())


def test_two_judges_do_not_wait_for_each_other(bert_folder: str, pairs: Pairs) -> None:
    gate = Gate()
    slow = MicroBatcher(judge_with(gate, bert_folder), wait=0)
    other = MicroBatcher(Judge(model=bert_folder), wait=0)
    first = slow.submit("It waits.", "It waits.")
    assert gate.reached.wait(60)
    assert other.submit(*pairs[0]).result(60).measures["tokens"] > 0
    assert not first.done()
    gate.open.set()
    assert first.result().measures["tokens"] == 2


FORK = """
    import os, signal, sys, threading, torch
    from estime_metric.integrations.judging import Judge, MicroBatcher

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
    """Before the first pair, afterwards, and while pairs gather; in the child of a child too."""
    script = """
        batcher = MicroBatcher(Judge(model="embedded-small", device="cpu"), wait=0.5)
        assert in_child(lambda: batcher.submit(*pair).result().measures["tokens"] != 4) == 0
        expected = batcher.submit(*pair).result().measures
        differs = lambda: batcher.submit(*pair).result().measures != expected
        assert in_child(differs) == 0
        assert in_child(lambda: differs() or in_child(differs)) == 0
        pending = batcher.submit(*pair)  # which gathers for half a second
        assert in_child(differs) == 0
        assert pending.result().measures == expected
    """
    run_python(textwrap.dedent(FORK) + textwrap.dedent(script))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_is_forked_when_a_batcher_is_done_with_judges_too() -> None:
    """If the batcher's thread ended with it, a fork at that moment would inherit a lock of MKL."""
    script = """
        judge = Judge(model="embedded-small", device="cpu")
        for _ in range(10):
            assert MicroBatcher(judge, wait=0).submit(*pair).result().measures["tokens"] == 4
            assert in_child(lambda: not judge([pair[0]], [pair[1]])) == 0
        threads = [thread.name for thread in threading.enumerate()]
        assert len([name for name in threads if name.startswith("estime")]) == 1, threads
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
                found = [judgement.measures["alarms"] for judgement in judge([pair[0]], [pair[1]])]
            return found != [expected[0]["alarms"]] or len(caught) != 1

        assert in_child(judged) == 0
    """
    run_python(textwrap.dedent(FORK) + textwrap.dedent(script), *summeval[0])


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
        pending = MicroBatcher(judge, wait=0).submit(*pair)
        assert reached.wait(60)
        other = Judge(model="embedded-small", device="cpu")
        assert in_child(lambda: 0) == 0  # immediately: `opened` is not set
        assert in_child(lambda: bool(other([pair[0]], [pair[1]]))) == 256
        assert in_child(lambda: bool(MicroBatcher(other).submit(*pair))) == 256
        assert not pending.done()
        opened.set()
        assert pending.result().measures["tokens"] == 3
        assert in_child(lambda: not other([pair[0]], [pair[1]])) == 0
    """
    said = run_python(textwrap.dedent(FORK) + textwrap.dedent(script)).stdout.splitlines()
    assert len(said) == 2
    for line in said:
        assert line.startswith("RuntimeError: This process was forked while its parent was judging")
        assert 'multiprocessing.get_context("spawn")' in line
