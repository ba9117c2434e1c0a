"""The tables of the other scripts: rounding, epochs, large jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from estime_metric import EstimeConfig
from experiments.speed import common, epochs, jobs, rounding

SMALL = EstimeConfig(model="embedded-small", distance=2)


def test_scores_are_in_the_order_of_the_pairs_whatever_order_they_are_scored_in(
    summeval: Path,
) -> None:
    pairs, _ = common.pairs_of(summeval, 4)
    one = rounding.score(pairs, SMALL)
    another = rounding.score(pairs, SMALL, list(range(len(pairs)))[::-1])
    assert len(set(one["inconsistency"].tolist())) > 2
    assert one["inconsistency"].tolist() == pytest.approx(
        another["inconsistency"].tolist(), abs=1e-5
    )


def test_what_rounding_changes(run, summeval: Path) -> None:
    given = ["--sources", 4, "--model", "embedded-small", "--threads", 1]
    (table,) = run(rounding.main, summeval, *given)
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


def test_ties_of_hostile_pairs(run) -> None:
    tables = run(rounding.main, "--hostile", 8, "--model", "embedded-small", "--threads", 1)
    assert [table.title for table in tables] == [
        f"{dtype}: 8 hostile pairs, budgets of (2000, 8000)" for dtype in ("float32", "bfloat16")
    ]
    for table in tables:
        assert "alarms" in table.column("statistic")
        assert set(table.column("pairs beyond their ties")) == {"0"}


@pytest.mark.slow
def test_epochs_and_processes(run, summeval: Path) -> None:
    given = ["--sources", 2, "--threads", 1, "--each", 1]
    first, second = run(epochs.main, "--summeval", summeval, *given)
    assert first.column("cache") == ["none", "memory", "folder"]
    assert second.column("processes") == ["1", "2", "2"]
    assert second.column("of one process")[0] == "1.000"


def test_rates_by_summaries_of_each_source(run, summeval: Path) -> None:
    given = ["--sources", 2, "--summeval", summeval, "--each", 1, 3]
    (table,) = run(jobs.main, "rate", *given)
    assert table.column("pairs") == ["2", "6"]
    alone, together = (int(number) for number in table.column("positions per pair"))
    assert alone > together  # of the source, once or for three


@pytest.mark.slow
def test_dry_runs_and_runs(run, summeval: Path) -> None:
    (table,) = run(jobs.main, "estimate", "--sources", 2, "--summeval", summeval)
    assert len(table.rows) == 4
    for row in table.rows:
        assert float(row[3]) > 0
        assert float(row[4]) > 0


@pytest.mark.slow
def test_grouping_with_ray(run, summeval: Path) -> None:
    pytest.importorskip("ray")
    given = ["--sources", 2, "--each", 2, "--blocks", 2, "--summeval", summeval]
    (table,) = run(jobs.main, "grouping", *given)
    assert set(table.column("grouped")) == {"yes", "no"}
    assert any("Map" in step for step in table.column("step"))
