"""FRANK is read from both layouts alike, and what does not fit is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from estime_metric.studies.benchmarks.frank.data import ERRORS, FLIP, METRICS, read
from estime_metric.studies.benchmarks.shared.data import Summaries
from tests.command import json_rows
from tests.studies.made import DATA, made_folder, made_rows


@pytest.mark.parametrize("articles", [False, True])
def test_the_authors_files_give_the_same_as_the_folder(tmp_path: Path, articles: bool) -> None:
    authors = made_folder(tmp_path / "frank", "frank-authors")
    if articles:
        (authors / "data" / "benchmark_data.json").unlink()
    for split in ("test", "valid"):
        digests = {
            read(folder, split).digest for folder in (DATA / "frank", authors, authors / "data")
        }
        assert len(digests) == 1


def test_what_the_rows_say_stands_there(data: Summaries) -> None:
    rows = [row for row in made_rows("frank") if row["split"] == "test"]
    assert data.keys == [(row["doc_id"], row["system"]) for row in rows]
    documents = json_rows(DATA / "frank" / "documents.jsonl")
    sources = {row["doc_id"]: row["source"] for row in documents}
    assert data.sources == [sources[row["doc_id"]] for row in rows]
    assert list(data.published) == [
        "FactCC",
        "QAGS",
        "New",
    ]  # those of the paper first, in its order
    missing = [row["metrics"]["QAGS"] is None for row in rows]
    assert np.isnan(data.published["QAGS"]).tolist() == missing
    assert any(missing)
    assert data.table["Flip_EntE"].tolist() == [row["flipped"]["EntE"] for row in rows]
    assert data.documents == ["d0", "d1", "d2", "d4", "d5", "d6"]


def test_the_first_documents_of_each_data_set(data: Summaries) -> None:
    folder = DATA / "frank"
    first = read(folder, limit=1)
    assert (first.documents, len(first)) == (["d0", "d4"], 5)
    assert first.digest != data.digest
    assert read(folder, limit=3).digest == data.digest


def test_a_folder_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    rows = made_rows("frank")
    with pytest.raises(ValueError, match="`split` to be one of valid, test, but got 'train'"):
        read(tmp_path, "train")
    for number, (bad, message) in enumerate(
        (
            ([{**rows[0], "doc_id": "x"}], "a source for each document, but there is none for x"),
            ([{**rows[0], "dataset": "xl"}], "datasets cnndm, bbc, but got xl"),
            (
                [{**rows[0], "factuality": None}],
                r"`factuality` to be finite, but it is not for \('d0', 'bart'\)",
            ),
        )
    ):
        with pytest.raises(ValueError, match=message):
            read(made_folder(tmp_path / str(number), "frank", bad))
    authors = made_folder(tmp_path / "g", "frank-authors")
    texts = json.loads((authors / "data" / "benchmark_data.json").read_text())
    (authors / "data" / "benchmark_data.json").write_text(json.dumps(texts[1:]))
    with pytest.raises(
        ValueError, match=r"a summary for each judgement .* none for \('d0', 'bart'\)"
    ):
        read(authors)
    (authors / "data" / "benchmark_data.json").unlink()
    shutil.rmtree(authors / "data" / "articles-wbertscore-json")
    with pytest.raises(
        FileNotFoundError, match=r"have the texts, benchmark_data.json or articles-wbertscore-json"
    ):
        read(authors)


def test_the_benchmark_itself(frank: Summaries) -> None:
    assert (len(frank), len(frank.documents), len(frank.systems)) == (1575, 350, 9)
    assert tuple(frank.published) == METRICS
    assert [name for name in frank.table if name.startswith(FLIP)] == [
        FLIP + name for name in ERRORS
    ]
    missing = {name: int(np.isnan(values).sum()) for name, values in frank.published.items()}
    assert {name: number for name, number in missing.items() if number} == {
        "Dep Entail": 41,
        "FEQA": 4,
    }
