"""``estime coherence`` as its user meets it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from estime_metric.studies.coherence_measures.classifier import CoherenceClassifier
from estime_metric.studies.coherence_measures.entity_graph import entity_graph
from estime_metric.table.table import record_of
from tests.command import csv_rows, json_rows, run_command, write_jsonl

TEXTS = [
    "The bridge is old. The mayor closed the bridge. The mayor left.",
    "Bees fly. [/red]\x1b[2J The sun is far.",
]
run = partial(run_command, "coherence")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [{"summary": text, "id": f"e{number}"} for number, text in enumerate(TEXTS)]
    return write_jsonl(tmp_path / "summaries.jsonl", rows)


def test_the_screen_shows_the_means_and_the_output_is_that_of_score(
    table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "scores.csv"
    out.write_text("old")
    options = ["--overwrite", "--measures", "entity_graph,random", "--seed", 3, "-o", out]
    shown = run(table, *options).stdout
    assert f"wrote 2 rows to {out}" in shown
    assert "2 summaries scored, 0 rows skipped" in shown
    mean = (entity_graph(TEXTS[0]) + entity_graph(TEXTS[1])) / 2
    assert f"entity_graph: mean {mean:.4f} (higher is better)" in shown
    signature = "COHERENCE|entity_graph:content_words|random:seed 3|version:"
    assert signature in shown
    assert list(csv_rows(out)[0]) == ["line", "id", "entity_graph", "random"]
    assert record_of(out)["signature"].startswith(signature)


def test_rows_without_a_summary_are_named_and_columns_of_the_user_not_replaced(table: Path) -> None:
    table.write_text(table.read_text() + '{"text": 1}\n{bad')
    shown = run(table, status=1)
    assert "skipped line 3: column 'summary' is missing (columns: text)" in shown.stderr
    assert "skipped line 4: is not JSON" in shown.stderr
    assert "2 summaries scored, 2 rows skipped" in shown.stdout
    write_jsonl(table, [{"summary": "A text.", "entity_graph": 7}])
    assert "no column 'entity_graph' in summaries.jsonl" in run(table, status=2).stderr


def test_a_classifier(table: Path, bert_folder: str, tmp_path: Path) -> None:
    folder, out = tmp_path / "classifier", tmp_path / "out.jsonl"
    options = ["--measures", "classifier", "--device", "cpu"]
    classifier = CoherenceClassifier(bert_folder, device="cpu")
    classifier.save(folder)
    run(table, *options, "--classifier", folder, "-o", out)
    computed = [row["classifier"] for row in json_rows(out)]
    assert computed == pytest.approx(classifier.score(TEXTS).tolist(), abs=1e-5)
    assert (
        "has no trained head" in run(table, *options, "--classifier", bert_folder, status=2).stderr
    )
