"""SummEval from a folder and from the Hub's layout: the same data, complete or refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.summeval.data import (
    SummEval,
    from_hub,
    from_rows,
    read_folder,
)
from tests.command import json_rows, write_jsonl
from tests.conftest import SUMMEVAL

DOCUMENTS, SYSTEMS = ["b-doc", "a-doc", "007", "d"], ["M10", "M2", "M0"]


def hub_rows(data: SummEval) -> list[dict[str, Any]]:
    """The same data in the layout of the Hub's."""
    return [
        {
            "machine_summaries": list(rows["summary"]),
            "human_summaries": rows["references"].iloc[0],
            **{quality: list(rows[quality]) for quality in QUALITIES},
            "text": rows["source"].iloc[0],
            "id": document,
        }
        for document, rows in data.table.groupby("document", sort=False)
    ]


def test_a_folder_is_read_in_the_order_of_its_summaries(folder: Path, data: SummEval) -> None:
    rows = json_rows(folder / "summeval.jsonl")
    assert (data.documents, data.systems, data.origin, len(data)) == (
        DOCUMENTS,
        SYSTEMS,
        "made-up",
        12,
    )
    assert list(data.summaries) == [row["summary"] for row in rows]
    for quality in QUALITIES:
        assert data.table[quality].tolist() == [row[quality] for row in rows]
    for row, source, references in zip(rows, data.sources, data.table["references"], strict=True):
        assert source.startswith(references[0])
        assert row["system"] != "M10" or source.startswith(row["summary"])


def test_the_hubs_layout_is_read_by_datasets(
    data: SummEval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("datasets")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "hub"
    folder.mkdir()
    write_jsonl(folder / "test.jsonl", hub_rows(data))
    loaded = from_hub(str(folder))
    assert loaded.systems == ["S1", "S2", "S3"]
    assert not loaded.named_systems
    for name in ("document", "source", "references", "summary", *QUALITIES):
        assert list(loaded.table[name]) == list(data.table[name])


def test_a_data_set_that_cannot_be_loaded_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        OSError, match=r"'no-such/data-set' cannot be loaded: .* pass a folder with documents.jsonl"
    ):
        from_hub("no-such/data-set")
    monkeypatch.setitem(sys.modules, "datasets", None)  # as if it were not installed
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[evaluate\]'"):
        from_hub()


def test_rows_of_the_hubs_layout_may_lack_different_names(data: SummEval) -> None:
    rows = [row | {"id": "same"} for row in hub_rows(data)]
    assert from_rows(rows, "x").documents == ["0", "1", "2", "3"]
    for name in ("machine_summaries", *QUALITIES):
        rows[2][name] = rows[2][name][:-1]
    with pytest.raises(ValueError, match=r"x to contain each document .* none for \(2, S3\)"):
        from_rows(rows, "x")


def test_missing_rows_are_named(folder: Path) -> None:
    rows = json_rows(folder / "summeval.jsonl")
    write_jsonl(folder / "summeval.jsonl", rows[:7] + rows[8:])
    with pytest.raises(
        ValueError, match=r"each document with each system, .* none for \(007, M2\)"
    ):
        read_folder(folder)
    rows[11]["doc_id"] = "nowhere"
    write_jsonl(folder / "summeval.jsonl", rows)
    with pytest.raises(
        ValueError, match=r"documents.jsonl to contain the documents .* none for nowhere"
    ):
        read_folder(folder)


@pytest.mark.skipif(not SUMMEVAL.is_dir(), reason="SummEval is missing")
def test_summeval_itself() -> None:
    loaded = read_folder(SUMMEVAL)
    assert (len(loaded.documents), len(loaded.systems), len(loaded)) == (100, 16, 1600)
    assert set(loaded.table["references"].map(len)) == {11}
    assert loaded.table[list(QUALITIES)].stack().between(1, 5).all()
