"""What the cases share."""

from __future__ import annotations

from experiments.speed import common
from experiments.speed.common import Runs
from tests.studies.made import DATA, made_rows


def test_pairs_are_those_of_the_first_documents_source_by_source() -> None:
    pairs = common.pairs_of(DATA, sources=2, each=2)
    rows = made_rows("summeval")  # three summaries of each document
    assert [summary for summary, _ in pairs] == [rows[place]["summary"] for place in (0, 1, 3, 4)]
    sources = [source for _, source in pairs]
    assert sources[0] == sources[1] != sources[2] == sources[3]
    assert pairs[0][0] in sources[0]  # the first system copies


def test_ratios_are_taken_round_by_round() -> None:
    slow, fast = Runs([2.0, 30.0, 4.0], "slow"), Runs([1.0, 10.0, 1.0], "fast")
    assert slow.ratio_to(fast) == 3.0  # of 2, 3 and 4: the second round was slow for both


def test_everything_runs_in_turn_after_a_run_that_does_not_count() -> None:
    order: list[str] = []

    def run(name: str) -> str:
        order.append(name)
        return f"{name} {len(order)}"

    computed = common.alternate({"a": lambda: run("a"), "b": lambda: run("b")}, rounds=2)
    assert order == ["a", "b"] * 3
    assert len(computed["a"].seconds) == 2
    assert computed["b"].returned == "b 6"
