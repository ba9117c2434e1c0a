"""Files -> the table of each system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from estime_metric.compare.read import baseline_of, name_files, read_systems
from estime_metric.compare.request import Request
from tests.command import write_jsonl

PAIRS = [
    {"source": f"The cat slept near river {number}.", "summary": "The cat slept.", "id": number}
    for number in range(3)
]


def test_a_file_of_each_system_or_one_of_all(tmp_path: Path) -> None:
    """Rows that cannot be scored are named and counted; columns of others need no texts."""
    first = write_jsonl(tmp_path / "a.jsonl", PAIRS)
    broken = write_jsonl(tmp_path / "b.jsonl", [*PAIRS[1:], {**PAIRS[0], "summary": None}])
    broken.write_text(f"{{bad\n{broken.read_text()}")
    skipped: list[str] = []
    systems = read_systems(name_files([first, broken]), Request(), skipped)
    assert [systems[name].frame["id"].tolist() for name in "ab"] == [[0, 1, 2], [1, 2]]
    assert systems["b"].skipped == 2
    starts = [problem[:21] for problem in skipped]
    assert starts == ["b.jsonl line 1: is no", "b.jsonl line 4: colum"]
    of_others = read_systems(name_files([first, broken]), Request(measures="id"), [])
    assert len(of_others["b"].frame) == 3
    rows = [pair | {"system": system} for system in (1, 1.0, "2.0") for pair in PAIRS]
    one = write_jsonl(tmp_path / "all.jsonl", rows)
    systems = read_systems(name_files([one]), Request(), [])
    assert {name: len(scores.frame) for name, scores in systems.items()} == {"1": 6, "2.0": 3}


def test_a_baseline_is_named_by_its_file_or_its_system() -> None:
    assert baseline_of(name_files([Path("x/a.jsonl"), Path("x/b.csv")]), "b.csv") == "b"
    twice = name_files([Path("x/b.csv"), Path("y/b.csv")])
    assert list(twice) == [str(Path("x/b.csv")), str(Path("y/b.csv"))]
    assert baseline_of(twice, "b.csv") == "b.csv"  # of neither


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"text": "x", "alarms": 1}], r"a column 'source' in b\.jsonl, but its columns are text"),
        ([{"source": "The cat.", "summary": None}], r"pairs in b\.jsonl, .* \(b\.jsonl line 1: "),
        (["no object"], r"b\.jsonl to have .* no rows \(b\.jsonl line 1: "),
        ([], r"b\.jsonl to have .* no rows \(the file is empty\)"),
        # An output of 'estime score' without its record.
        ([{"alarms": 1, "source_id": "x"}], r"b\.jsonl\.meta\.json next to b\.jsonl, which seems"),
    ],
)
def test_a_file_that_has_nothing_to_compare_is_refused(
    rows: list[Any], message: str, tmp_path: Path
) -> None:
    a, b = write_jsonl(tmp_path / "a.jsonl", PAIRS), write_jsonl(tmp_path / "b.jsonl", rows)
    with pytest.raises(ValueError, match=message):
        read_systems(name_files([a, b]), Request(), [])


def test_a_column_of_systems_is_of_one_file_and_filled(tmp_path: Path) -> None:
    a, b = (write_jsonl(tmp_path / f"{name}.jsonl", PAIRS) for name in "ab")
    with pytest.raises(ValueError, match=r"`system_column` with one file of all .* got 2 files"):
        read_systems(name_files([a, b]), Request(system_column="id"), [])
    with pytest.raises(ValueError, match=r"column 'system' in a\.jsonl, but .* Name another one"):
        read_systems(name_files([a]), Request(), [])
    gap = write_jsonl(tmp_path / "gap.jsonl", [{**PAIRS[0], "system": "x"}, PAIRS[1]])
    with pytest.raises(
        ValueError, match=r"'system' in each row of gap\.jsonl, but line 2 has none"
    ):
        read_systems(name_files([gap]), Request(), [])
