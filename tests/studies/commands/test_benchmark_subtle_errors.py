"""``estime benchmark subtle-errors`` on made-up pairs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.command import SHORT, csv_rows, json_rows, run_command, write_jsonl
from tests.families import SENTENCES

QUICK = [*SHORT, "--resamples", "20", "-q"]
run = partial(run_command, "benchmark", "subtle-errors")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [{"source": " ".join(SENTENCES[k : k + 4]), "summary": SENTENCES[k]} for k in range(5)]
    return write_jsonl(tmp_path / "clean.jsonl", rows)


def shown_rows(text: str, title: str) -> list[str]:
    """The lines of a part of a table on the screen."""
    return text[text.index(f"\n{title}\n") :].split("\n\n")[0].splitlines()


def test_a_named_generator_several_layers_and_a_second_setting(
    table: Path, bert_folder: str, tmp_path: Path
) -> None:
    second, out = tmp_path / "second.json", tmp_path / "out"
    second.write_text('{"distance": 2}', encoding="utf-8")
    models = ["-m", bert_folder, "--generator", bert_folder, "--compare", second, "-o", out]
    shown = run(table, *models, "-l", "2,4", "-n", "2", "--unit", "word", *QUICK)
    rivals = {row["measure"]: row["than"] for row in csv_rows(out / "agreement.csv")}
    assert rivals["(-)alarms-4 (distance 2)"] == "(-)alarms-4 word"
    assert rivals["(-)alarms-4 word"] == "(-)inconsistency-2 word"
    lines = shown_rows(shown.stdout, "2 errors, 5 pairs")
    for layer in (2, 4):
        assert any(line.startswith(f"(-)alarms-{layer} word") for line in lines)


def test_ids_are_compared_as_text_before_anything_is_corrupted(tmp_path: Path) -> None:
    rows = [{"source": "a b", "summary": "a", "id": name} for name in (7, "7.0", None, "x", "x")]
    table = write_jsonl(tmp_path / "clean.jsonl", rows)
    refused = run(table, "-m", "embedded-small", *QUICK, status=2).stderr
    assert "Expected each pair to have another id, but 7, x occurs twice." in refused
    assert "Traceback" not in refused


@pytest.mark.slow
def test_scores_of_files_join(table: Path, tmp_path: Path) -> None:
    """With the generator of the bundled encoders."""
    options = [table, "-m", "embedded-small", "-n", "1,2", *QUICK]
    run(*options, "-o", tmp_path / "first")
    rows = json_rows(tmp_path / "first" / "pairs.jsonl")
    assert [len(row["errors"]) for row in rows] == [0, 1, 2] * 5
    scored = [{**row, "size": len(row["summary"])} for row in rows][:0:-1]  # the first is missing
    mine = write_jsonl(tmp_path / "mine.jsonl", scored)
    shown = run(*options, "--scores", mine, "--lower", "size")
    assert "Fewer than 10 pairs have no interval." in shown.stdout
    assert "SubtleErrors|model:embedded-small@sha256-" in shown.stdout
    lines = shown_rows(shown.stdout, "2 errors, 5 pairs")
    assert any(line.startswith("(-)size [mine]") for line in lines)
    assert "2 errors, 5 pairs, but fewer with a score: (-)size [mine] (4)." in shown.stdout
    assert f"mine: no row for 1 of 15 summaries: ({rows[0]['pair']}, 0)." in shown.stdout
