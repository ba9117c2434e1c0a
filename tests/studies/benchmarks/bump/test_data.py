"""The authors' layout: what is read, which articles are for choosing, what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from estime_metric.studies.benchmarks.bump.data import chosen_articles, error_types, read
from estime_metric.studies.benchmarks.shared.data import Summaries
from tests.studies.benchmarks.bump.conftest import BUMP
from tests.studies.made import DATA, made_folder, made_rows


def test_a_pair_is_a_reference_and_its_edit(data: Summaries) -> None:
    rows = made_rows("bump")
    assert data.origin == "bump, task 1 (all)"
    assert data.documents == ["10", "11", "12", "13", "14", "15"]
    assert data.table["article"][::2].tolist() == ["100", "100", "101", "101", "102", "102"]
    assert data.keys[:3] == [("10", "reference"), ("10", "edited"), ("11", "reference")]
    assert data.key_names == ("pair", "version")
    assert len(data) == len(data.sources) == 12
    assert data.summaries[2:4] == [rows[1]["reference_summary"], rows[1]["edited_summary"]]
    assert data.sources[4] == data.sources[5] == rows[2]["article"]
    assert list(data.published) == ["DAE", "New"]
    assert data.published["New"].tolist() == [0, 1, 0, 0, 2, 1, 2, 3, 4, 4, 4, 3]


def test_the_corrected_type_counts_and_strange_ones_come_last(
    data: Summaries, tmp_path: Path
) -> None:
    assert [str(error) for error in error_types(data.table["error"]).values()] == [
        "entity, intrinsic",
        "coreference",
        "Strange Error",
    ]
    for row in (rows := made_rows("bump")):
        del row["corrected_error_type"]
    second = read(made_folder(tmp_path / "two", "bump", rows, "data/task2_dataset.json"), task=2)
    assert set(second.table["error"]) == {"Coreference Error"}
    assert second.origin == "two, task 2 (all)"
    assert read(tmp_path / "two" / "data", task=2).keys == second.keys


def test_the_articles_with_the_smallest_hashes_are_for_choosing() -> None:
    names = ["100", "101", "102"]
    by_hash = sorted(names, key=lambda name: hashlib.sha256(name.encode("utf-8")).hexdigest())
    assert chosen_articles(names, 2) == set(by_hash[:2])
    assert chosen_articles([*names, *reversed(names)], 2) == set(by_hash[:2])
    assert chosen_articles(names) == set(names)  # fewer than fifty
    assert set(read(DATA / "bump", split="valid").table["article"]) == set(names)
    with pytest.raises(ValueError, match="to have pairs of the split 'test', but there are none"):
        read(DATA / "bump", split="test")


def test_the_real_articles_are_split_once(bump: Summaries) -> None:
    parts = {split: set(read(BUMP, split=split).table["article"]) for split in ("valid", "test")}
    assert (len(parts["valid"]), len(parts["test"])) == (50, 49)
    assert parts["valid"] | parts["test"] == set(bump.table["article"])
    assert parts["valid"] == chosen_articles(bump.table["article"])
    assert len(bump.documents) == 693
    # Recorded when the split was made: choices rest on it.
    names = ",".join(sorted(parts["valid"]))
    assert hashlib.sha256(names.encode()).hexdigest()[:12] == "80bcda109291"


def test_a_limit_takes_the_first_articles() -> None:
    assert read(DATA / "bump", limit=2).documents == ["10", "11", "12", "13"]


def without(field: str) -> list[dict[str, Any]]:
    first, *others = made_rows("bump")
    return [{name: value for name, value in first.items() if name != field}, *others]


def test_a_folder_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    rows = made_rows("bump")
    gap = {**rows[0], "scores": {"DAE_reference": 1.0}}
    word = {**rows[0], "scores": {**rows[0]["scores"], "New_edited": "high"}}
    for number, (bad, message) in enumerate(
        (
            ([*rows[1:], gap], "a score 'New_reference' for each pair .* record 6 lacks it"),
            ([word, *rows[1:]], "scores in task1_dataset.json to be numbers"),
            (without("error_type"), "line 1 of task1_dataset.json to have 'error_type'"),
            ([], "to have pairs of the split 'all'"),
        )
    ):
        folder = made_folder(tmp_path / str(number), "bump", bad)
        with pytest.raises(ValueError, match=message):
            read(folder)
    with pytest.raises(ValueError, match="`split` to be one of valid, test, all"):
        read(DATA / "bump", split="half")
    with pytest.raises(ValueError, match="`task` to be one of 1, 2"):
        read(folder, task=3)
