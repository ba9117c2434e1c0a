"""RAGTruth and the table of limits: thresholds, flagged words and edits against plain loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.studies.benchmarks.shared.benchmark import Results, run
from estime_metric.studies.benchmarks.shared.data import Summaries
from experiments.benchmarks import limits
from experiments.benchmarks.accuracy import choose_threshold
from experiments.benchmarks.detection import DETECTION
from experiments.benchmarks.ragtruth import BENCHMARK
from experiments.benchmarks.ragtruth.data import read
from experiments.benchmarks.ragtruth.marked import signals
from experiments.benchmarks.running import blocks_without_encoder
from experiments.benchmarks.words import judged_words
from experiments.tests.benchmarks.made import DATA, made_folder, made_rows
from tests.studies.made import real_folder


@pytest.fixture(scope="module")
def data() -> Summaries:
    return read(DATA / "ragtruth")


@pytest.fixture(scope="module")
def results(data: Summaries) -> Results[Summaries]:
    return run(BENCHMARK, data, blocks_without_encoder(data), resamples=20)


def test_summaries_have_their_source_label_and_marked_places(data: Summaries) -> None:
    rows = made_rows("ragtruth")
    assert data.keys == [(row["doc_id"], row["system"]) for row in rows]
    assert data.table["label"].tolist() == [row["label"] for row in rows]
    assert data.table["places"].tolist() == [
        [(start, end) for start, end, _ in row["spans"]] for row in rows
    ]
    assert len(read(DATA / "ragtruth", limit=2)) == 6


def test_a_label_that_is_neither_0_nor_1_is_refused(tmp_path: Path) -> None:
    rows = [{**made_rows("ragtruth")[0], "label": 2}]
    with pytest.raises(
        ValueError, match=r"labels 0 and 1 in ragtruth\.jsonl, but got 2 for 'copies'"
    ):
        read(made_folder(tmp_path, "ragtruth", rows))


def test_each_half_of_the_articles_has_the_threshold_of_the_other(
    results: Results[Summaries], data: Summaries
) -> None:
    scores = -results.scores.values["new_words"]
    labels = data.table["label"].to_numpy()
    half = np.array([int(document) % 2 for document in data.table["document"]])
    predicted = np.empty(len(data), dtype=bool)
    for part in (0, 1):
        threshold = choose_threshold(labels[half != part], scores[half != part])
        predicted[half == part] = scores[half == part] > threshold
    row = results.frames[DETECTION].set_index("measure").loc["(-)new words"]
    recalls = [(predicted[labels == label] == label).mean() for label in (0, 1)]
    assert row["accuracy"] == pytest.approx(np.mean(recalls))
    found = (~predicted & (labels == 0)).sum()
    assert row["f1"] == pytest.approx(2 * found / ((~predicted).sum() + (labels == 0).sum()))


def test_flag_everything_is_a_row(results: Results[Summaries], data: Summaries) -> None:
    row = results.frames[DETECTION].set_index("measure").loc["flag everything"]
    errors = (data.table["label"] == 0).mean()
    assert (row["area"], row["accuracy"]) == (0.5, 0.5)
    assert row["f1"] == pytest.approx(2 * errors / (1 + errors))


def test_words_by_kind() -> None:
    source = "Anna bought the red boat. Peter sold the old house."
    summary = "On Monday, Smith paid 500 for the boat that Anna rowed."
    explanation = EstimeScorer().explain(summary, source)
    start = summary.index("Smith")
    found = signals(judged_words([explanation], [[(start, start + 5)]]))
    assert found["new name"] == {"flagged": 2, "precision": 0.5, "recall": 1.0, "lift": 0.5 * 13}
    assert found["new number"]["flagged"] == 1
    assert found["all new words"]["flagged"] == 5  # Monday, Smith, paid, 500, rowed
    assert found["all flagged words"]["recall"] == 1


def test_the_real_data() -> None:
    table = read(real_folder("ragtruth")).table
    assert (len(table), table["document"].nunique()) == (450, 75)
    assert (table["label"] == 0).sum() == 118
    for row in table.itertuples():
        assert bool(row.places) == (row.label == 0)
        assert all(0 <= start < end <= len(row.summary) for start, end in row.places)


def test_edits_change_scores_as_a_loop_says() -> None:
    data = limits.read(DATA / "ragtruth")
    table = data.table.set_index(["document", "edit"])["summary"]
    wrong = [row for row in made_rows("ragtruth") if row["label"] == 0]
    assert data.table["document"].nunique() == len(wrong)
    row = wrong[0]
    key = f"{row['doc_id']}/{row['system']}"
    source = read(DATA / "ragtruth").sources[0]
    assert table[key, limits.WRITTEN] == row["summary"]
    assert table[key, limits.ONE].startswith(row["summary"])
    assert table[key, limits.ONE].split(row["summary"] + " ")[1] in source
    assert table[key, limits.THREE] == f"{row['summary']} {source}"
    (start, *_), *_ = row["spans"]
    assert table[key, limits.DELETED] == row["summary"][:start].strip()
    result = run(limits.BENCHMARK, data, blocks_without_encoder(data), resamples=20)
    scores = pd.Series(result.scores.values["new_words"], data.table.index)
    by_edit = data.table.assign(score=scores).pivot(
        index="document", columns="edit", values="score"
    )
    changes = result.frames[limits.CHANGES].query("column == 'new_words'").set_index("edit")
    for edit in limits.EDITS:
        change = by_edit[edit] - by_edit[limits.WRITTEN]
        assert changes.loc[edit, "change"] == pytest.approx(change.mean())
        assert changes.loc[edit, "better"] == (change < 0).mean()
