"""Growth with words and pairs: the exponents, the tables and the plot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.speed import common, growth
from experiments.speed.growth import Grown


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_is_the_power_of_the_size(power: float) -> None:
    grown = [Grown(size, 3 * size**power, 10.0) for size in (10, 100, 1000)]
    assert growth.exponent(grown) == pytest.approx(power)


def test_pairs_are_written_as_they_are_read(tmp_path: Path) -> None:
    pairs = common.made_up(2, 2, 10, 4)
    path = growth.write_pairs(tmp_path / "pairs.jsonl", pairs)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["summary"], row["source"]) for row in rows] == pairs


def test_the_tables_and_the_plot(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "apart", lambda score, *arguments: score(*arguments))
    sizes = ["--words", 40, 90, "--counts", 3, 9, "--threads", 1]
    words, pairs = run("growth", *sizes, "--plot", tmp_path / "growth")
    assert words.column("words") == ["40", "90"]
    assert pairs.column("pairs") == ["3", "9"]
    for table in (words, pairs):
        assert table.columns[1:2] + table.columns[3:] == ["seconds", "MB above the encoder"]
    drawn = (tmp_path / "growth.svg").read_text()
    assert drawn.count("<svg") == 1
    assert (tmp_path / "growth.png").stat().st_size > 10_000
