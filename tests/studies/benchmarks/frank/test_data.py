"""FRANK is read from both layouts alike, and what does not fit is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from estime_metric.studies.benchmarks.frank.data import ERRORS, METRICS, Frank, read
from tests.studies.benchmarks.frank.conftest import SOURCES, made_rows, write_authors, write_folder


def same(one: Frank, other: Frank) -> None:
    assert one.keys == other.keys
    assert (one.datasets, one.summaries, one.source_of_each) == (
        other.datasets,
        other.summaries,
        other.source_of_each,
    )
    for name in ("flipped", "published"):
        first, second = getattr(one, name), getattr(other, name)
        assert list(first) == list(second)
        for column in first:
            np.testing.assert_array_equal(first[column], second[column])
    np.testing.assert_array_equal(one.factuality, other.factuality)
    assert one.digest == other.digest


@pytest.mark.parametrize("articles", [False, True])
def test_the_authors_files_give_the_same_as_the_folder(
    folder: Path, tmp_path: Path, articles: bool
) -> None:
    authors = write_authors(tmp_path / "frank", made_rows(), articles=articles)
    for split in ("test", "valid"):
        same(read(folder, split), read(authors, split))
        same(read(folder, split), read(authors / "data", split))


def test_what_the_rows_say_stands_there(data: Frank) -> None:
    rows = [row for row in made_rows() if row["split"] == "test"]
    assert data.keys == [(row["doc_id"], row["system"]) for row in rows]
    assert data.source_of_each == [SOURCES[row["doc_id"]] for row in rows]
    assert list(data.published) == [
        "FactCC",
        "QAGS",
        "New",
    ]  # those of the paper first, in its order
    missing = [row["metrics"]["QAGS"] is None for row in rows]
    assert np.isnan(data.published["QAGS"]).tolist() == missing
    assert any(missing)
    assert data.flipped["EntE"].tolist() == [row["flipped"]["EntE"] for row in rows]
    assert data.documents == ("d0", "d1", "d2", "d4", "d5", "d6")


def test_the_first_documents_of_each_data_set(data: Frank, folder: Path) -> None:
    first = read(folder, limit=1)
    assert (first.documents, len(first)) == (("d0", "d4"), 5)
    assert first.digest != data.digest
    same(read(folder, limit=3), data)
    with pytest.raises(ValueError, match="`limit` to be at least 1"):
        read(folder, limit=0)


def test_a_folder_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    rows = made_rows()
    with pytest.raises(
        FileNotFoundError,
        match=r"to have frank.jsonl and documents.jsonl, or human_annotations.json",
    ):
        read(tmp_path)
    with pytest.raises(ValueError, match="`split` to be one of valid, test, but got 'train'"):
        read(tmp_path, "train")
    lacking = {key: value for key, value in rows[0].items() if key != "summary"}
    for number, (bad, message) in enumerate(
        (
            (
                [rows[0], *rows],
                r"each summary once, but these occur several times: \('d0', 'bart'\)",
            ),
            ([{**rows[0], "doc_id": "x"}], "a source for each document, but there is none for x"),
            ([lacking], r"line 1 of frank.jsonl to have 'summary', but it is missing"),
            ([{**rows[0], "dataset": "xl"}], "datasets cnndm, bbc, but got xl"),
            (
                [{**rows[0], "factuality": None}],
                r"`factuality` to be finite, but it is not for \('d0', 'bart'\)",
            ),
        )
    ):
        with pytest.raises(ValueError, match=message):
            read(write_folder(tmp_path / str(number), bad))
    authors = write_authors(tmp_path / "g", rows, articles=False)
    texts = json.loads((authors / "data" / "benchmark_data.json").read_text())
    (authors / "data" / "benchmark_data.json").write_text(json.dumps(texts[1:]))
    with pytest.raises(
        ValueError, match=r"a summary for each judgement .* none for \('d0', 'bart'\)"
    ):
        read(authors)
    (authors / "data" / "benchmark_data.json").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"have the texts, benchmark_data.json or articles-wbertscore-json"
    ):
        read(authors)


def test_the_benchmark_itself(frank: Frank) -> None:
    assert (len(frank), len(frank.documents), len(frank.systems)) == (1575, 350, 9)
    assert tuple(frank.published) == METRICS
    assert list(frank.flipped) == list(ERRORS)
    missing = {name: int(np.isnan(values).sum()) for name, values in frank.published.items()}
    assert {name: number for name, number in missing.items() if number} == {
        "Dep Entail": 41,
        "FEQA": 4,
    }
