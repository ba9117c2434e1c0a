"""Labeled pairs: rows, datasets, and where the clean pairs come from."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest

from estime_metric.studies.benchmarks.subtle_errors import SubtleErrors
from estime_metric.studies.benchmarks.subtle_errors.data import (
    cnn_dailymail,
    summeval_references,
)
from estime_metric.studies.benchmarks.subtle_errors.labeled import labeled_rows
from tests.families import SENTENCES


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def test_each_pair_gives_a_clean_row_and_one_for_each_number(bert_folder: str) -> None:
    corrupted = SubtleErrors(bert_folder, n_errors=3)([SENTENCES[0], "the.", "", SENTENCES[1]])
    rows = labeled_rows(["source one", "two", "three", "source four"], corrupted, (1, 3), "0123")
    assert " ".join(row["id"] for row in rows) == "0-0 0-1 0-3 1-0 1-1 1-3 2-0 3-0 3-1 3-3"
    assert [row["label"] for row in rows] == [1, 0, 0, 1, 0, 0, 1, 1, 0, 0]
    assert [(row["n_errors"], row["n_missing"]) for row in rows[:6]] == [
        (0, 0),
        (1, 0),
        (3, 0),
        (0, 0),
        (1, 0),
        (1, 2),
    ]
    assert {row["pair"]: row["source"] for row in rows}["3"] == "source four"
    for row in rows:
        clean = next(other["summary"] for other in rows if other["pair"] == row["pair"])
        assert (row["summary"] == clean) == (row["label"] == 1)
        for error in row["errors"]:
            assert row["summary"][error["start"] : error["end"]] == error["replacement"]
            assert clean[error["clean_start"] : error["clean_end"]] == error["original"]


@pytest.fixture
def local_cnn_dailymail(tmp_path: Path) -> str:
    """A dataset of CNN/DailyMail's layout: edition, splits and columns."""
    folder = tmp_path / "cnn_dailymail"
    (folder / "3.0.0").mkdir(parents=True)
    texts = {
        "article": "Article {0}.",
        "highlights": "Highlight {0} .\nSecond line .",
        "id": "{0}",
    }
    rows = {name: [text.format(number) for number in range(6)] for name, text in texts.items()}
    datasets.Dataset.from_dict(rows).to_parquet(folder / "3.0.0" / "test-00000-of-00001.parquet")
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: 3.0.0\n  data_files:\n"
        "  - split: test\n    path: 3.0.0/test-*\n---\n",
        encoding="utf-8",
    )
    return str(folder)


def test_cnn_dailymail_gives_a_random_selection(local_cnn_dailymail: str) -> None:
    pairs = cnn_dailymail(4, path=local_cnn_dailymail)
    assert pairs["document"].nunique() == 4
    for row in pairs.itertuples():
        assert row.source == f"Article {row.document}."
        assert row.summary == f"Highlight {row.document} .\nSecond line ."
    assert cnn_dailymail(4, path=local_cnn_dailymail).equals(pairs)
    others = [cnn_dailymail(4, path=local_cnn_dailymail, seed=seed) for seed in (1, 2)]
    assert any(list(other["document"]) != list(pairs["document"]) for other in others)
    assert len(cnn_dailymail(7, path=local_cnn_dailymail)) == 6


def test_summeval_gives_documents_and_first_references(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text(
        '{"doc_id": "b", "source": "B"}\n{"doc_id": "a", "source": "A"}\n'
    )
    references = tmp_path / "references.jsonl"
    references.write_text(
        '{"doc_id": "a", "references": ["a1", "a2"]}\n{"doc_id": "b", "references": ["b1"]}\n'
    )
    pairs = summeval_references(tmp_path)
    assert pairs.to_numpy().tolist() == [["b", "B", "b1"], ["a", "A", "a1"]]
    references.write_text(
        '{"doc_id": "a", "references": ["a1"]}\n{"doc_id": "b", "references": []}\n'
    )
    with pytest.raises(
        ValueError, match=r"a reference for each document in .*, but there is none for b"
    ):
        summeval_references(tmp_path)
