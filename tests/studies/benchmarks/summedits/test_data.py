"""The authors' layout: what is read, in which order, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.summedits.data import DOMAINS, read
from estime_metric.studies.benchmarks.summedits.published import PUBLISHED
from tests.studies.benchmarks.summedits.conftest import SUMMEDITS
from tests.studies.made import DATA, made_folder, made_rows


def test_domains_come_in_the_order_of_tables(data: Summaries) -> None:
    assert data.documents == ["podcast", "news", "strange"]
    assert data.key_names == ("domain", "id")
    assert data.keys[0] == ("podcast", "a_0")
    assert data.keys[-1] == ("strange", "e_2")
    assert data.table["label"].tolist() == [1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0]
    assert len(data) == 15
    assert data.sources[4] == made_rows("summedits")[0]["doc"]
    assert data.summaries[5] == made_rows("summedits")[1]["summary"]


def test_a_document_is_a_text_of_a_domain(data: Summaries, tmp_path: Path) -> None:
    assert list(data.table["text"][:4]) == ["podcast/0", "podcast/0", "podcast/1", "podcast/1"]
    assert data.table["text"].nunique() == 6  # podcast and news share a text, but no document
    same_text = made_rows("summedits")
    same_text[0]["id"] = "other_name_0"
    renamed = read(made_folder(tmp_path / "x", "summedits", same_text))
    assert list(renamed.table["text"]) == list(data.table["text"])


def test_every_layout_is_found() -> None:
    folder = DATA / "summedits"
    for place in (folder, folder / "data", folder / "data" / "summedits"):
        assert len(read(place)) == 15
    assert len(read(folder, limit=1)) == 2 + 3 + 3


def test_a_label_that_is_neither_0_nor_1_is_refused(tmp_path: Path) -> None:
    rows = [{**made_rows("summedits")[0], "label": 2}]
    message = "labels 0 and 1 in summedits_news.json, but got 2 for 'a_0'"
    with pytest.raises(ValueError, match=message):
        read(made_folder(tmp_path, "summedits", rows))


def test_the_real_data(summedits: Summaries) -> None:
    assert len(summedits) == 4681
    assert summedits.table["text"].nunique() == 162
    assert summedits.documents == [
        name for name in DOMAINS if name not in ("billsum", "shakespeare")
    ]


def test_published_accuracies_are_those_of_the_authors_readme() -> None:
    assert len(PUBLISHED) == 20  # 19 models and people
    assert list(PUBLISHED) == [*DOMAINS, "overall"]
    means = PUBLISHED[list(DOMAINS)].mean(axis=1)
    assert list(PUBLISHED["overall"]) == pytest.approx(list(means), abs=0.0501)  # with one digit
    path = SUMMEDITS / "published.json"
    if not path.is_file():
        pytest.skip("the copy of the README's table is missing")
    printed = json.loads(path.read_text(encoding="utf-8"))
    assert len(printed) == len(PUBLISHED)
    for row, (model, accuracies) in zip(printed, PUBLISHED.iterrows(), strict=True):
        assert row.pop("model") == {"people": "Human Perf."}.get(model, model)
        assert row == accuracies.to_dict()
