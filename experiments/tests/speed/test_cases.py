"""The tables of the other cases: rounding, epochs, positions; every case says what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from estime_metric import EstimeConfig
from experiments.speed import common, rounding
from experiments.speed.__main__ import CASES, make_parser

SMALL = EstimeConfig(model="embedded-small", distance=2)


@pytest.mark.parametrize("case", CASES)
def test_every_option_has_a_default(case: str) -> None:
    options = make_parser().parse_args([case])
    for name, (default, _) in CASES[case].OPTIONS.items():
        assert getattr(options, name) == default


def test_scores_are_in_the_order_of_the_pairs_whatever_order_they_are_scored_in(
    summeval: Path,
) -> None:
    pairs, _ = common.pairs_of(summeval, 4)
    forward = rounding.score(pairs, SMALL)
    backward = rounding.score(pairs, SMALL, list(range(len(pairs)))[::-1])
    assert len(set(forward["inconsistency"].tolist())) > 2
    assert forward["inconsistency"].tolist() == pytest.approx(
        backward["inconsistency"].tolist(), abs=1e-5
    )


def test_what_rounding_changes(run, summeval: Path) -> None:
    small = ["--sources", 4, "--model", "embedded-small", "--threads", 1]
    (table,) = run("rounding", "--summeval", summeval, *small)
    assert table.title == "SummEval, embedded-small, distance 2: absolute differences"
    assert table.column("change") == [
        "float32: budget 8,000, not 2,000",
        "float32: pairs shuffled",
        "bfloat16: budget 8,000, not 2,000",
        "bfloat16: pairs shuffled",
        "bfloat16, not float32",
    ]
    assert set(table.column("pairs")) == {"12"}
    exact, lower = table.rows[1], table.rows[-1]
    assert exact[2] == "0"
    assert float(exact[-1]) < 1e-4 < float(lower[-1])


@pytest.mark.slow
def test_epochs(run, summeval: Path) -> None:
    small = ["--sources", 4, "--threads", 1, "--batch", 2, "--model", "embedded-small"]
    (table,) = run("epochs", "--summeval", summeval, *small)
    assert table.column("cache") == ["none", *(f"holds {share}%" for share in (100, 75, 50, 25))]
    assert table.column("by its share")[0] == "1.000"


def test_rates_by_summaries_of_each_source(run, summeval: Path) -> None:
    small = ["--sources", 2, "--each", 1, 3, "--model", "embedded-small", "--rounds", 1]
    (table,) = run("positions", "--summeval", summeval, *small)
    assert table.column("pairs") == ["2", "6"]
    alone, together = (int(number) for number in table.column("positions per pair"))
    assert alone > together  # of the source, once or for three
