"""What the scripts share."""

from __future__ import annotations

import time
from pathlib import Path

from experiments.speed import common
from experiments.speed.common import Runs
from tests.studies.made import made_rows


def test_pairs_are_those_of_the_first_documents_source_by_source(summeval: Path) -> None:
    pairs, texts = common.pairs_of(summeval, sources=2, each=2)
    assert texts == "SummEval"
    rows = made_rows("summeval")  # three summaries of each document
    assert [summary for summary, _ in pairs] == [rows[place]["summary"] for place in (0, 1, 3, 4)]
    sources = [source for _, source in pairs]
    assert sources[0] == sources[1] != sources[2] == sources[3]
    assert pairs[0][0] in sources[0]  # the first system copies


def test_without_summeval_texts_are_made_up_in_its_lengths(tmp_path: Path) -> None:
    pairs, texts = common.pairs_of(tmp_path, sources=3, each=4)
    assert texts == "made-up texts of SummEval's lengths"
    assert len(pairs) == 12
    assert len({source for _, source in pairs}) == 3
    assert pairs == common.pairs_of(tmp_path, sources=3, each=4)[0]
    for summary, source in common.made_up(20, 1, words=90, summary_words=30):
        assert 60 <= len(source.split()) <= 120
        assert 20 <= len(summary.split()) <= 40
        assert set(summary.split()) <= set(source.split())


def test_ratios_are_taken_round_by_round() -> None:
    slow, fast = Runs([2.0, 30.0, 4.0], "slow"), Runs([1.0, 10.0, 1.0], "fast")
    assert slow.ratio_to(fast) == 3.0  # of 2, 3 and 4: the second round was slow for both


def test_everything_runs_in_turn_after_a_run_that_does_not_count() -> None:
    order: list[str] = []
    ticks = iter(range(100))

    def run(name: str) -> str:
        order.append(name)
        return f"{name} {len(order)}"

    runs = {"a": lambda: run("a"), "b": lambda: run("b")}
    computed = common.alternate(runs, rounds=2, now=lambda: float(next(ticks)))
    assert order == ["a", "b"] * 3
    assert computed["a"].seconds == [1.0, 1.0]
    assert computed["b"].returned == "b 6"


def test_the_peak_is_seen_although_the_memory_is_given_back() -> None:
    size = 200 * common.MEGABYTE
    before = common.resident()
    with common.Peak() as peak:
        taken = bytearray(size)
        taken[::4096] = b"x" * len(taken[::4096])
        time.sleep(0.2)  # it looks a hundred times a second
        del taken
    assert peak.most - before > 0.9 * size
